"""Equations 1 and 2: the running class mean, and the thresholds that follow from it."""

import pytest
import torch

from jointmatch.selection import AdaptiveThreshold, FixedThreshold, class_thresholds, confident

F = [[0.9, 0.1], [0.7, 0.3]]  # batch mean (0.8, 0.2)
G = [[0.2, 0.8], [0.4, 0.6]]  # batch mean (0.3, 0.7)


def test_thresholds_are_tau_scaled_by_the_class_mean_over_its_largest():
    """0.8 * (0.5, 0.25, 0.25) / 0.5 = (0.8, 0.4, 0.4); 0.8 * (0.2, 0.4, 0.4) / 0.4 = (0.4, 0.8, 0.8)."""
    mean = torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4]])
    torch.testing.assert_close(class_thresholds(mean, 0.8), torch.tensor([[0.8, 0.4, 0.4], [0.4, 0.8, 0.8]]))


def test_a_text_is_held_against_the_threshold_of_its_own_class_and_network():
    """Thresholds (0.8, 0.4): 0.7 for class 0 misses, 0.55 for class 1 passes; (0.4, 0.8) for the second network."""
    probs = torch.tensor([[[0.7, 0.3], [0.45, 0.55]]]).repeat(2, 1, 1)
    thresholds = torch.tensor([[0.8, 0.4], [0.4, 0.8]])
    assert confident(probs, thresholds).tolist() == [[False, True], [True, False]]


def test_a_confidence_equal_to_its_threshold_is_enough():
    assert confident(torch.tensor([[[0.75, 0.25]]]), torch.tensor([[0.75, 0.5]])).tolist() == [[True]]


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_a_fixed_threshold_keeps_what_reaches_tau_and_tau_itself(networks):
    probs = torch.tensor([[0.75, 0.25], [0.5, 0.5], [0.26, 0.74]]).repeat(networks, 1, 1)
    rule = FixedThreshold(0.75, num_classes=2, num_networks=networks)
    assert rule(probs).tolist() == [[True, False, False]] * networks
    assert rule.current().tolist() == [[0.75, 0.75]] * networks


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_before_the_first_batch_every_class_has_the_full_threshold(networks):
    rule = AdaptiveThreshold(0.98, num_classes=4, num_networks=networks, momentum=0.9)
    assert rule.class_mean.tolist() == [[0.25] * 4] * networks
    torch.testing.assert_close(rule.current(), torch.full((networks, 4), 0.98))


def test_each_network_keeps_its_own_class_mean():
    """Lambda 0.9 from (0.5, 0.5):
    f: 0.9 * (0.5, 0.5) + 0.1 * (0.8, 0.2) = (0.53, 0.47); thresholds (0.98, 0.98 * 47/53 = 0.869057)
    g: 0.9 * (0.5, 0.5) + 0.1 * (0.3, 0.7) = (0.48, 0.52); thresholds (0.98 * 48/52 = 0.904615, 0.98)
    """
    rule = AdaptiveThreshold(0.98, 2, 2, momentum=0.9, class_mean="own")
    rule(torch.tensor([F, G]))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.53, 0.47], [0.48, 0.52]]))
    torch.testing.assert_close(rule.current(), torch.tensor([[0.98, 0.869057], [0.904615, 0.98]]))


def test_a_second_batch_moves_the_class_mean_on():
    """0.9 * (0.53, 0.47) + 0.1 * (0.3, 0.7) = (0.507, 0.493)."""
    rule = AdaptiveThreshold(0.98, 2, 1, momentum=0.9)
    rule(torch.tensor([F]))
    rule(torch.tensor([G]))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.507, 0.493]]))


def test_a_shared_class_mean_is_moved_by_each_network_in_turn():
    """f leaves (0.53, 0.47); g then 0.9 * (0.53, 0.47) + 0.1 * (0.3, 0.7) = (0.507, 0.493), for both.
    Thresholds (0.98, 0.98 * 493/507 = 0.952939).
    """
    rule = AdaptiveThreshold(0.98, 2, 2, momentum=0.9, class_mean="shared")
    rule(torch.tensor([F, G]))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.507, 0.493]] * 2))
    torch.testing.assert_close(rule.current(), torch.tensor([[0.98, 0.952939]] * 2))


def test_with_a_shared_mean_a_network_is_judged_before_the_next_one_moves_it():
    """Lambda 0, tau 0.8. f's mean (0.75, 0.25) gives (0.8, 0.267): 0.9 passes, 0.6 does not.
    g's mean (0.25, 0.75) gives (0.267, 0.8): 0.6 for class 1 fails, 0.9 passes. Judged after g, f's 0.6 would pass.
    """
    probs = torch.tensor([[[0.9, 0.1], [0.6, 0.4]], [[0.4, 0.6], [0.1, 0.9]]])
    rule = AdaptiveThreshold(0.8, 2, 2, momentum=0.0, class_mean="shared")
    assert rule(probs).tolist() == [[True, False], [False, True]]


def test_the_batch_counts_before_it_is_judged():
    """Lambda 0, tau 0.9: the mean (0.835, 0.165) gives (0.9, 0.178), so 0.6 for class 1 passes; with 1/C it fails."""
    probs = torch.tensor([[[0.98, 0.02], [0.98, 0.02], [0.98, 0.02], [0.4, 0.6]]])
    rule = AdaptiveThreshold(0.9, 2, 1, momentum=0.0)
    assert rule(probs).tolist() == [[True, True, True, True]]


@pytest.mark.parametrize("class_mean", ["own", "shared"])
def test_with_one_network_own_and_shared_are_the_same(class_mean):
    """0.9 * (0.5, 0.5) + 0.1 * (0.8, 0.2) = (0.53, 0.47)."""
    rule = AdaptiveThreshold(0.85, 2, 1, momentum=0.9, class_mean=class_mean)
    assert rule(torch.tensor([F])).tolist() == [[True, False]]
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.53, 0.47]]))


def test_three_networks_move_a_shared_mean_three_times():
    """Lambda 0.5: (0.5, 0.5) -> (0.65, 0.35) -> (0.475, 0.525) -> (0.6375, 0.3625)."""
    rule = AdaptiveThreshold(0.9, 2, 3, momentum=0.5, class_mean="shared")
    rule(torch.tensor([F, G, F]))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.6375, 0.3625]] * 3))


@pytest.mark.parametrize(("adaptivity", "second"), [(1.0, 0.4), (0.5, 0.8 * 0.5**0.5), (0.0, 0.8)])
def test_adaptivity_is_a_power_of_the_ratio(adaptivity, second):
    """0.8 * (0.25 / 0.5) ** a: 0.4 at 1, 0.8 / sqrt 2 at one half, 0.8 at 0."""
    found = class_thresholds(torch.tensor([[0.5, 0.25]]), 0.8, adaptivity)
    torch.testing.assert_close(found, torch.tensor([[0.8, second]]))


def test_a_class_that_is_rare_from_the_start_keeps_its_threshold():
    """Batch means (0.9, 0.1) twice: the running mean stays at its start, so both thresholds stay at tau (nearly: the
    reference counts one text more of each, (18 + 1) / 22 and (2 + 1) / 22). Against 1/2 each, 0.9 * 0.1 would do."""
    probs = torch.tensor([[[0.9, 0.1]] * 20])
    rule = AdaptiveThreshold(0.8, 2, 1, momentum=0.5, reference="start")
    rule(probs)
    first, last = 19 / 22, 3 / 22
    means = torch.tensor([[0.5 * first + 0.45, 0.5 * last + 0.05]])
    ratios = means / torch.tensor([[first, last]])
    torch.testing.assert_close(rule.class_mean, means)
    torch.testing.assert_close(rule.current(), 0.8 * ratios / ratios.max())
    assert rule.current()[0, 1] > 0.65


def test_a_class_that_loses_texts_since_the_start_gets_a_lower_threshold():
    """Start at even halves, (11 / 22 each), then (0.9, 0.1): means 0.5 * 0.5 + 0.5 * (0.9, 0.1) = (0.7, 0.3)."""
    rule = AdaptiveThreshold(0.8, 2, 1, momentum=0.5, reference="start")
    rule(torch.tensor([[[0.5, 0.5]] * 20]))
    rule(torch.tensor([[[0.9, 0.1]] * 20]))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.7, 0.3]]))
    torch.testing.assert_close(rule.current(), torch.tensor([[0.8, 0.8 * 3 / 7]]))


def test_a_class_nobody_predicts_at_the_start_does_not_break_the_others():
    rule = AdaptiveThreshold(0.8, 3, 2, momentum=0.9, reference="start")
    rule(torch.tensor([[0.5, 0.5, 0.0]]).expand(2, 4, 3))
    assert torch.isfinite(rule.current()).all()
    assert (rule.current()[:, :2] > 0.7).all()


def test_networks_with_a_shared_mean_share_the_start_too():
    """Over both batches of two the mean is (0.55, 0.45); with one more text of each class (2.1, 1.9) / 4."""
    rule = AdaptiveThreshold(0.8, 2, 2, momentum=0.5, class_mean="shared", reference="start")
    rule(torch.tensor([F, G]))
    torch.testing.assert_close(rule.reference, torch.tensor([[0.525, 0.475]] * 2))
    assert torch.equal(rule.class_mean[0], rule.class_mean[1])
