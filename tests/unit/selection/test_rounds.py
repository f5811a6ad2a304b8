"""When phases begin, and which texts are read in them."""

import pytest
import torch

from jointmatch.selection import in_turn, random_share, round_phases


def test_a_teacher_then_a_probe_and_a_student_for_each_round():
    """100 steps, 2 rounds: 20 for the teacher, 40 for each round, of which 16 for the probe."""
    wanted = (range(20), range(20, 36), range(36, 60), range(60, 76), range(76, 100))
    assert round_phases(100, 2, 0.2, 0.4) == wanted


def test_whoever_is_given_no_share_has_one_step():
    assert round_phases(11, 1, 0.0, 0.0) == (range(1), range(1, 2), range(2, 11))


@pytest.mark.parametrize("total", [1, 2, 3, 4, 5, 6, 7, 11, 300])
@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("shares", [(0.2, 0.4), (0.0, 0.0), (1.0, 1.0)])
def test_phases_follow_on_each_other_none_is_empty_and_the_last_is_a_students(total, rounds, shares):
    phases = round_phases(total, rounds, *shares)
    assert [n for phase in phases for n in phase] == list(range(total))
    assert all(phases)
    assert len(phases) == 1 + 2 * min(rounds, (total - 1) // 2)


def test_so_many_candidates_with_the_smallest_draws():
    """Candidates 0 2 3 with draws 0.5 0.9 0.1: of two, 0 and 3. The second network has candidates 0 1 2 with draws
    0.3 0.2 0.8: of one, 1. The third is asked for none.
    """
    candidates = torch.tensor([[True, False, True, True], [True, True, True, False], [False, True, False, False]])
    draws = torch.tensor([[0.5, 0.0, 0.9, 0.1], [0.3, 0.2, 0.8, 0.0], [0.5, 0.0, 0.9, 0.1]])
    found = random_share(candidates, draws, torch.tensor([2, 1, 0]))
    assert found.tolist() == [[True, False, False, True], [False, True, False, False], [False] * 4]


def test_the_texts_are_read_over_and_over():
    texts = torch.tensor([7, 3, 5, 0, 1])
    found = [in_turn(texts, torch.tensor(3), start, 2).tolist() for start in (0, 2, 4)]
    assert found == [[7, 3], [5, 7], [3, 5]]


def test_of_no_text_at_all_the_first_stands_in():
    assert in_turn(torch.tensor([7, 3]), torch.tensor(0), 4, 2).tolist() == [7, 7]
