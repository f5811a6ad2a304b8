"""Angles rescaled so that every class's are equally spread, worked by hand.

One network, two classes, momentum 0.5. Class 0's texts lie at 0.2 and 0.6 to its vector, class 1's at 0.5 and 0.7:
    numbers 2 2, sums 0.8 1.2, squares 0.4 0.74, all halved by the update from zero: 1 1, 0.4 0.6, 0.2 0.37
    means 0.4 0.6; squared deviations 0.2 - 0.16 = 0.04 and 0.37 - 0.36 = 0.01, together 0.05 over 2 texts: 0.025
    variances with one text more at that: (0.04 + 0.025) / 2 = 0.0325 and (0.01 + 0.025) / 2 = 0.0175, mean 0.025
    ratios sqrt(0.025 / 0.0325) = 0.877058 and sqrt(0.025 / 0.0175) = 1.195229
"""

import math

import pytest
import torch

from jointmatch.selection import AngleBalance, angles_of

ANGLES = torch.tensor([[[0.2, 3.0], [0.6, 2.0], [1.5, 0.5], [1.0, 0.7]]])
LABELS = torch.tensor([[0, 0, 1, 1]])


def balanced(momentum=0.5, counts=(1.0, 1.0, 1.0, 1.0)):
    balance = AngleBalance(2, 1, momentum)
    balance.see(ANGLES, LABELS, torch.tensor([counts]))
    balance.update()
    return balance


def test_mean_and_variance_of_each_class_are_of_its_own_texts_angles():
    mean, variance = balanced().statistics()
    torch.testing.assert_close(mean, torch.tensor([[0.4, 0.6]]))
    torch.testing.assert_close(variance, torch.tensor([[0.0325, 0.0175]]))


def test_angles_move_towards_or_away_from_their_class_mean():
    """0.4 + 0.877058 (1.0 - 0.4) and 0.6 + 1.195229 (1.0 - 0.6)."""
    found = balanced()(torch.full((1, 1, 2), 1.0))
    torch.testing.assert_close(found, torch.tensor([[[0.926235, 1.078091]]]))


def test_the_spread_is_the_same_in_all_classes_afterwards():
    mean, variance = balanced().statistics()
    either_side = balanced()(torch.stack([mean - variance.sqrt(), mean + variance.sqrt()], 1))
    spreads = either_side[:, 1] - either_side[:, 0]
    torch.testing.assert_close(spreads[:, 0], spreads[:, 1])
    torch.testing.assert_close(either_side.mean(1), mean)


def test_before_anything_is_seen_angles_stay_as_they_are():
    angles = torch.rand(2, 5, 3) * math.pi
    torch.testing.assert_close(AngleBalance(3, 2, 0.9)(angles), angles)


def test_classes_spread_alike_are_left_alone():
    balance = AngleBalance(2, 1, 0.5)
    balance.see(torch.tensor([[[0.2, 9.0], [0.6, 9.0], [9.0, 0.7], [9.0, 1.1]]]), LABELS, torch.ones(1, 4))
    balance.update()
    angles = torch.rand(1, 5, 2) * 2
    torch.testing.assert_close(balance(angles), angles)


def test_the_momentum_is_what_stays_and_the_mean_does_not_depend_on_it():
    """0.75: a quarter is taken in, numbers 0.5 0.5, sums 0.2 0.3, squares 0.1 0.185. Squared deviations
    0.1 - 0.5 * 0.16 = 0.02 and 0.185 - 0.5 * 0.36 = 0.005, together 0.025 over 1 text; variances
    (0.02 + 0.025) / 1.5 = 0.03 and (0.005 + 0.025) / 1.5 = 0.02.
    """
    mean, variance = balanced(momentum=0.75).statistics()
    torch.testing.assert_close(mean, torch.tensor([[0.4, 0.6]]))
    torch.testing.assert_close(variance, torch.tensor([[0.03, 0.02]]))


@pytest.mark.parametrize("momentum", [0.5, 0.75])
def test_a_class_that_was_never_seen_has_the_others_mean_and_variance(momentum):
    """Class 0 alone: 0.04 over 1, (0.04 + 0.04) / 2 = 0.04; class 1 the one text it is lent: 0.04.
    With half as much taken in: 0.02 over 0.5 is 0.04 again, (0.02 + 0.04) / 1.5 = 0.04.
    """
    mean, variance = balanced(momentum, counts=(1.0, 1.0, 0.0, 0.0)).statistics()
    torch.testing.assert_close(mean, torch.tensor([[0.4, 0.4]]))
    torch.testing.assert_close(variance, torch.tensor([[0.04, 0.04]]))


def test_what_is_put_down_counts_from_the_next_update_on_and_once():
    balance = AngleBalance(2, 1, 0.5)
    balance.see(ANGLES, LABELS, torch.ones(1, 4))
    torch.testing.assert_close(balance(ANGLES), ANGLES)
    balance.update()
    balance.update()
    torch.testing.assert_close(balance.moments[0, 0], torch.tensor([0.5, 0.2, 0.1]))


def test_putting_down_a_batch_in_parts_is_the_same_as_at_once():
    parts = AngleBalance(2, 1, 0.5)
    for rows in (slice(0, 1), slice(1, 4)):
        parts.see(ANGLES[:, rows], LABELS[:, rows], torch.ones(1, 4)[:, rows])
    parts.update()
    torch.testing.assert_close(parts.moments, balanced().moments)


def test_rescaled_angles_stay_angles():
    far = balanced()(torch.tensor([[[0.0, 0.0], [math.pi, math.pi]]]))
    assert far.min() >= 0
    assert far.max() <= math.pi
    assert far[0, 1, 1] == pytest.approx(math.pi)


def test_cosines_of_one_have_a_finite_slope():
    cosines = torch.tensor([1.0, -1.0, 0.5], requires_grad=True)
    angles = angles_of(cosines)
    angles.sum().backward()
    assert cosines.grad is not None
    assert cosines.grad.isfinite().all()
    torch.testing.assert_close(angles.cos(), cosines.detach(), atol=1e-5, rtol=0)


def test_texts_all_at_one_angle_have_no_spread_rather_than_less_than_none():
    """64 texts at 2.3: their squares less 64 * 2.3^2 come out at minus 4e-5 in single precision."""
    balance = AngleBalance(2, 1, 0.9)
    balance.see(torch.full((1, 64, 2), 2.3), torch.zeros(1, 64, dtype=torch.long), torch.ones(1, 64))
    balance.update()
    assert (balance.statistics()[1] > 0).all()
    assert balance(ANGLES).isfinite().all()
