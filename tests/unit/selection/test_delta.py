"""delta as training goes on."""

import pytest
import torch

from jointmatch.selection import Delta, label_disagreement
from jointmatch.types import Step

PROBS = torch.tensor([[[0.9, 0.1], [0.3, 0.7]]])  # top 0.9 and 0.7: mean 0.8
HALF = torch.tensor([[True, False]])


def at(number: int, total: int = 4) -> Step:
    return Step(torch.arange(2), number, total)


def test_a_constant_delta_stays():
    rule = Delta(0.9, "constant", 2)
    assert [rule(HALF, PROBS, at(n)) for n in range(4)] == [0.9] * 4


def test_by_time_it_falls_in_a_straight_line_towards_one_half():
    """0.9 - 0.4 * (0, 1/4, 2/4, 3/4) = 0.9, 0.8, 0.7, 0.6; from below it rises: 0.1 + 0.4 * 3/4 = 0.4."""
    assert [Delta(0.9, "time", 2)(HALF, PROBS, at(n)) for n in range(4)] == pytest.approx([0.9, 0.8, 0.7, 0.6])
    assert Delta(0.1, "time", 2)(HALF, PROBS, at(3)) == pytest.approx(0.4)


def test_by_confidence_it_is_the_given_one_at_chance_and_one_half_when_sure():
    """C = 2, momentum 0.5: 0.5 * 0.5 + 0.5 * 0.8 = 0.65 is 0.3 of the way from chance to 1: 0.9 - 0.4 * 0.3 = 0.78.
    Then 0.5 * 0.65 + 0.5 * 0.8 = 0.725, 0.45 of the way: 0.72.
    """
    rule = Delta(0.9, "confidence", 2, momentum=0.5)
    assert [float(rule(HALF, PROBS, at(n))) for n in range(2)] == pytest.approx([0.78, 0.72])
    sure = Delta(0.9, "confidence", 2, momentum=0.0)
    assert float(sure(HALF, torch.tensor([[[1.0, 0.0]]]), at(0))) == pytest.approx(0.5)
    assert float(sure(HALF, torch.tensor([[[0.5, 0.5]]]), at(0))) == pytest.approx(0.9)


def test_chance_depends_on_the_number_of_classes():
    """C = 4, no memory: (0.4 - 0.25) / 0.75 = 0.2 of the way: 0.9 - 0.4 * 0.2 = 0.82."""
    rule = Delta(0.9, "confidence", 4, momentum=0.0)
    assert float(rule(HALF, torch.tensor([[[0.4, 0.2, 0.2, 0.2]]]), at(0))) == pytest.approx(0.82)


def test_by_disagreement_it_is_one_minus_the_running_share():
    """From 1 - 0.9 = 0.1, momentum 0.5, half disagreed on: 0.3, delta 0.7; again: 0.4, delta 0.6."""
    rule = Delta(0.9, "disagreement", 2, momentum=0.5)
    assert [float(rule(HALF, PROBS, at(n))) for n in range(2)] == pytest.approx([0.7, 0.6])


def test_disagreement_is_that_of_all_networks():
    """Of three networks' six judgements three differ: the share is 0.5, though the first network always differs."""
    differ = torch.tensor([[True, True], [True, False], [False, False]])
    assert float(Delta(0.9, "disagreement", 2, momentum=0.0)(differ, PROBS, at(0))) == pytest.approx(0.5)


def test_by_disagreement_both_kinds_of_text_count_the_same_together():
    """One of four disagreed on, no memory: delta 3/4 once, 1/4 three times."""
    labels, peers = torch.tensor([[0, 0, 0, 1]]), torch.tensor([[0, 0, 0, 0]])
    delta = Delta(0.9, "disagreement", 2, momentum=0.0)(labels != peers, PROBS, at(0))
    weights = label_disagreement(labels, peers, delta)
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.25, 0.25, 0.75]]))


@pytest.mark.parametrize("rule", ["confidence", "disagreement"])
def test_what_it_remembers_is_saved(rule):
    first, second = (Delta(0.9, rule, 2) for _ in range(2))
    first(HALF, PROBS, at(0))
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(HALF, PROBS, at(1)), second(HALF, PROBS, at(1)))


def test_the_running_mean_has_momentum_nine_tenths_unless_told():
    """0.9 * 0.1 + 0.1 * 0.5 = 0.14: delta 0.86."""
    assert float(Delta(0.9, "disagreement", 2)(HALF, PROBS, at(0))) == pytest.approx(0.86)
