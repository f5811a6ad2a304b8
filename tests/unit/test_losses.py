"""Cross-entropy and consistency with numbers that a pencil gives."""

from math import log

import pytest
import torch

from jointmatch.losses import consistency, cross_entropy, entropy, kl_divergence, mean_over, squared_error
from jointmatch.types import PseudoLabels

QUARTER = [0.0, log(3)]  # probabilities 1/4 and 3/4


def test_cross_entropy_of_class_ids():
    """-ln 1/4 = ln 4 for class 0, -ln 3/4 = ln 4/3 for class 1."""
    loss = cross_entropy(torch.tensor([[QUARTER, QUARTER]]), torch.tensor([[0, 1]]))
    torch.testing.assert_close(loss, torch.tensor([[log(4), log(4 / 3)]]))


def test_cross_entropy_of_distributions():
    """Target (0.4, 0.6): 0.4 ln 4 + 0.6 ln 4/3 = 0.554518 + 0.172609 = 0.727127."""
    loss = cross_entropy(torch.tensor([[QUARTER]]), torch.tensor([[[0.4, 0.6]]]))
    torch.testing.assert_close(loss, torch.tensor([[0.727127]]))


def test_a_one_hot_distribution_costs_the_same_as_its_class_id():
    """ln 4 either way."""
    logits = torch.tensor([[QUARTER]])
    for target in (torch.tensor([[0]]), torch.tensor([[[1.0, 0.0]]])):
        torch.testing.assert_close(cross_entropy(logits, target), torch.tensor([[log(4)]]))


def test_each_network_has_its_own_targets():
    """The same logits: class 0 for the first network ln 4, class 1 for the second ln 4/3."""
    loss = cross_entropy(torch.tensor([[QUARTER], [QUARTER]]), torch.tensor([[0], [1]]))
    torch.testing.assert_close(loss, torch.tensor([[log(4)], [log(4 / 3)]]))


def test_huge_logits_stay_finite():
    """ln(1 + e^-2000) = 0 for the sure class, 2000 for the other."""
    loss = cross_entropy(torch.tensor([[[1000.0, -1000.0]] * 2]), torch.tensor([[0, 1]]))
    assert loss.tolist() == [[0.0, 2000.0]]


def test_consistency_divides_by_the_whole_batch_and_weighs_what_is_selected():
    """Texts: ln 4 * 0.5, unselected 0, ln 4/3 * 2, unselected 0; over 4 texts (0.693147 + 0.575364) / 4 = 0.317128."""
    labels = PseudoLabels(
        torch.tensor([[0, 0, 1, 1]]),
        torch.tensor([[True, False, True, False]]),
        torch.tensor([[0.5, 1.0, 2.0, 1.0]]),
    )
    torch.testing.assert_close(consistency(torch.tensor([[QUARTER] * 4]), labels), torch.tensor([0.317128]))


def test_consistency_is_one_number_per_network():
    """ln 4 for the first, nothing selected for the second."""
    labels = PseudoLabels(torch.tensor([[0], [0]]), torch.tensor([[True], [False]]), torch.ones(2, 1))
    torch.testing.assert_close(consistency(torch.tensor([[QUARTER]] * 2), labels), torch.tensor([log(4), 0.0]))


def test_no_gradient_flows_through_soft_targets_or_weights():
    targets, weights = torch.tensor([[[0.4, 0.6]]], requires_grad=True), torch.tensor([[0.5]], requires_grad=True)
    logits = torch.tensor([[QUARTER]], requires_grad=True)
    consistency(logits, PseudoLabels(targets, torch.tensor([[True]]), weights)).sum().backward()
    assert targets.grad is None
    assert weights.grad is None
    assert logits.grad is not None


@pytest.mark.parametrize(("cls", "sign"), [(0, -1), (1, 1)])
def test_the_gradient_pulls_towards_the_target(cls, sign):
    """d loss / d logits = p - target: (1/4 - 1, 3/4) for class 0, (1/4, 3/4 - 1) for class 1."""
    logits = torch.tensor([[QUARTER]], requires_grad=True)
    cross_entropy(logits, torch.tensor([[cls]])).sum().backward()
    wanted = {-1: [[[-0.75, 0.75]]], 1: [[[0.25, -0.25]]]}[sign]
    torch.testing.assert_close(logits.grad, torch.tensor(wanted))


def test_a_mean_over_kept_texts_divides_by_their_number_and_is_zero_of_none():
    """(1 + 4) / 2 = 2.5; nothing kept 0; all kept 7 / 3; one alone is its own mean, 4."""
    losses = torch.tensor([[1.0, 2.0, 4.0]] * 4)
    kept = torch.tensor([[True, False, True], [False] * 3, [True] * 3, [False, False, True]])
    torch.testing.assert_close(mean_over(losses, kept), torch.tensor([2.5, 0.0, 7 / 3, 4.0]))


def test_kl_divergence_is_cross_entropy_less_the_targets_own_entropy():
    """Target (0.4, 0.6) on (1/4, 3/4): 0.4 ln 1.6 + 0.6 ln 0.8 = 0.188001 - 0.133886 = 0.054115."""
    loss = kl_divergence(torch.tensor([[QUARTER]]), torch.tensor([[[0.4, 0.6]]]))
    torch.testing.assert_close(loss, torch.tensor([[0.054115]]), atol=1e-6, rtol=1e-5)


def test_kl_divergence_of_a_sure_target_or_a_class_id_is_the_cross_entropy():
    """0 ln 0 = 0: ln 4."""
    logits = torch.tensor([[QUARTER]])
    for target in (torch.tensor([[0]]), torch.tensor([[[1.0, 0.0]]])):
        torch.testing.assert_close(kl_divergence(logits, target), torch.tensor([[log(4)]]))


def test_kl_divergence_of_a_prediction_from_itself_is_nothing():
    torch.testing.assert_close(
        kl_divergence(torch.tensor([[QUARTER]]), torch.tensor([[[0.25, 0.75]]])), torch.zeros(1, 1), atol=1e-7, rtol=0
    )


def test_squared_error_is_the_mean_over_classes():
    """(1/4, 3/4) against (0.4, 0.6): (0.15^2 + 0.15^2) / 2 = 0.0225; against class 0: 0.75^2 = 0.5625."""
    logits = torch.tensor([[QUARTER]])
    torch.testing.assert_close(squared_error(logits, torch.tensor([[[0.4, 0.6]]])), torch.tensor([[0.0225]]))
    torch.testing.assert_close(squared_error(logits, torch.tensor([[0]])), torch.tensor([[0.5625]]))


def test_squared_error_of_ids_needs_no_class_to_occur():
    """Uniform over 3 against class 0: ((2/3)^2 + 2 (1/3)^2) / 3 = 2/9."""
    torch.testing.assert_close(squared_error(torch.zeros(1, 1, 3), torch.tensor([[0]])), torch.tensor([[2 / 9]]))


def test_the_gradient_of_the_squared_error():
    """L = ((p0 - t0)^2 + (p1 - t1)^2) / 2 with p0 = 1/4, t0 = 0.4, and p1 - t1 = -(p0 - t0): dL/dp0 = p0 - t0 and
    dL/dp1 = p1 - t1, so dL/dz0 = p0 p1 ((p0 - t0) - (p1 - t1)) = 3/16 * -0.3 = -0.05625, and dL/dz1 the opposite."""
    logits = torch.tensor([[QUARTER]], requires_grad=True)
    squared_error(logits, torch.tensor([[[0.4, 0.6]]])).sum().backward()
    torch.testing.assert_close(logits.grad, torch.tensor([[[-0.05625, 0.05625]]]))


def test_entropy_in_nats():
    """(1/4, 3/4): 0.25 ln 4 + 0.75 ln 4/3 = 0.562335; a sure one 0, and no NaN."""
    logits = torch.tensor([[QUARTER, [1000.0, -1000.0]]])
    torch.testing.assert_close(entropy(logits), torch.tensor([[0.562335, 0.0]]))


def test_consistency_takes_another_distance():
    """Squared errors 0.5625 * 0.5 and 0.0625 * 2, over 4 texts: (0.28125 + 0.125) / 4 = 0.1015625."""
    labels = PseudoLabels(
        torch.tensor([[0, 0, 1, 1]]),
        torch.tensor([[True, False, True, False]]),
        torch.tensor([[0.5, 1.0, 2.0, 1.0]]),
    )
    loss = consistency(torch.tensor([[QUARTER] * 4]), labels, squared_error)
    torch.testing.assert_close(loss, torch.tensor([0.1015625]))
