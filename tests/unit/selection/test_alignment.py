"""Predictions shifted so that on average they have the balance wanted."""

import torch

from jointmatch.selection import Alignment, align

PROBS = torch.tensor([[[0.8, 0.2], [0.4, 0.6]]])  # mean (0.6, 0.4)
LATER = torch.tensor([[[0.2, 0.8], [0.2, 0.8]]])  # mean (0.2, 0.8)
EVEN = (1.0, 1.0)


def test_probabilities_are_multiplied_by_target_over_mean_and_sum_to_one_again():
    """Target (1/2, 1/2) over (0.6, 0.4) = (5/6, 5/4). (0.8, 0.2): (2/3, 1/4), sum 11/12: (8/11, 3/11).
    (0.4, 0.6): (1/3, 3/4), sum 13/12: (4/13, 9/13).
    """
    aligned = align(PROBS, torch.tensor([0.5, 0.5]), torch.tensor([[0.6, 0.4]]))
    torch.testing.assert_close(aligned, torch.tensor([[[8 / 11, 3 / 11], [4 / 13, 9 / 13]]]))


def test_each_network_is_divided_by_its_own_mean():
    both = torch.cat([PROBS, LATER])
    aligned = align(both, torch.tensor([0.5, 0.5]), both.mean(1))
    torch.testing.assert_close(aligned[1], torch.full((2, 2), 0.5))
    torch.testing.assert_close(aligned[0, 0], torch.tensor([8 / 11, 3 / 11]))


def test_the_first_batch_is_its_own_mean_and_the_next_moves_it():
    """(0.6, 0.4), then 0.75 * (0.6, 0.4) + 0.25 * (0.2, 0.8) = (0.5, 0.5), by which LATER is left as it was."""
    rule = Alignment(EVEN, 2, 1, momentum=0.75)
    torch.testing.assert_close(rule(PROBS)[0, 0], torch.tensor([8 / 11, 3 / 11]))
    torch.testing.assert_close(rule(LATER), LATER)
    torch.testing.assert_close(rule.mean, torch.tensor([[0.5, 0.5]]))


def test_a_target_in_any_unit_is_made_to_shares():
    """3 to 1: (0.75, 0.25) over (0.6, 0.4) = (5/4, 5/8). (0.8, 0.2): (1, 1/8): (8/9, 1/9)."""
    torch.testing.assert_close(Alignment((3.0, 1.0), 2, 1, momentum=0.9)(PROBS)[0, 0], torch.tensor([8 / 9, 1 / 9]))


def test_what_has_the_wanted_balance_is_left_alone():
    torch.testing.assert_close(Alignment((0.6, 0.4), 2, 1, momentum=0.9)(PROBS), PROBS)


def test_the_estimate_is_the_mean_of_all_batches_and_networks():
    """Batches of (0.6, 0.4) and (0.2, 0.8): (0.4, 0.6) after two; a third of (0.2, 0.8): (1/3, 2/3).
    Without memory the second batch is divided by (0.2, 0.8): (2, 3/4) times (0.2, 0.8) = (0.4, 0.6).
    """
    rule = Alignment(None, 2, 1, momentum=0.0)
    torch.testing.assert_close(rule(PROBS), PROBS)
    torch.testing.assert_close(rule(LATER), torch.tensor([[[0.4, 0.6]] * 2]))
    rule(LATER)
    torch.testing.assert_close(rule.target, torch.tensor([1 / 3, 2 / 3]))
    of_two = Alignment(None, 2, 2, momentum=0.9)
    of_two(torch.cat([PROBS, LATER]))
    torch.testing.assert_close(of_two.target, torch.tensor([0.4, 0.6]))


def test_a_given_target_never_moves():
    rule = Alignment((3.0, 1.0), 2, 1, momentum=0.9)
    rule(PROBS)
    assert rule.target.tolist() == [0.75, 0.25]


def test_a_class_nobody_predicts_stays_unpredicted_and_finite():
    certain = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])
    assert Alignment(EVEN, 2, 1, momentum=0.9)(certain).tolist() == certain.tolist()


def test_a_class_hardly_ever_predicted_is_not_raised_without_limit():
    """Means (1, 5e-7) count as 5e-7 + 1e-6 for the rare one: (1, 5e-7) times (1/2, 1/2) over (1, 1.5e-6) is
    (1/2, 1/6): (3/4, 1/4), not halves.
    """
    rare = torch.tensor([[[1.0, 5e-7]]])
    aligned = align(rare, torch.tensor([0.5, 0.5]), rare[:, 0])
    torch.testing.assert_close(aligned, torch.tensor([[[0.75, 0.25]]]), atol=1e-5, rtol=0)


def test_a_class_the_pool_is_said_not_to_have_keeps_a_trace():
    """Halves times (1, 0 and one millionth) over halves."""
    aligned = align(torch.tensor([[[0.5, 0.5]]]), torch.tensor([1.0, 0.0]), torch.tensor([[0.5, 0.5]]))
    torch.testing.assert_close(aligned[0, 0, 1], torch.tensor(1e-6), atol=1e-9, rtol=0)


def test_what_it_remembers_is_saved():
    first, second = Alignment(None, 2, 1, momentum=0.9), Alignment(None, 2, 1, momentum=0.9)
    first(PROBS)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(LATER), second(LATER))
