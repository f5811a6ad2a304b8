"""SoftMatch's weight: exp(-min(x - mean, 0)^2 / (2 variance / n^2))."""

from math import exp

import pytest
import torch

from jointmatch.selection import GaussianWeight, truncated_gaussian


def weigh(*confidence, mean=0.7, variance=0.01, sigmas=2.0):
    return truncated_gaussian(torch.tensor(confidence), torch.tensor(mean), torch.tensor(variance), sigmas)


@pytest.mark.parametrize(("sigmas", "weight"), [(2.0, exp(-2)), (1.0, exp(-0.5))])
def test_below_the_mean_the_weight_falls_as_a_gaussian(sigmas, weight):
    """0.1 below, variance 0.01: 0.01 / (0.02 / 4) = 2; with n = 1, 0.01 / 0.02 = 0.5."""
    torch.testing.assert_close(weigh(0.6, sigmas=sigmas), torch.tensor([weight]))


def test_from_the_mean_upwards_every_text_counts_one():
    assert weigh(0.7, 0.8, 1.0).tolist() == [1.0, 1.0, 1.0]


def test_without_variance_it_is_a_threshold_at_the_mean():
    assert weigh(0.6, 0.7, 0.8, variance=0.0).tolist() == [0.0, 1.0, 1.0]


def test_mean_and_variance_take_the_batch_in_before_it_is_weighed():
    """m 0.5, from 1/2 and 1. Confidence 0.6, 0.8, 0.9, mean 0.766667: 0.633333. Squares of -0.166667, 0.033333,
    0.133333 sum to 0.0466667, over 2: 0.0233333; variance 0.5 + 0.5 * 0.0233333 = 0.5116667.
    0.6 lies 0.033333 below: 0.00111111 / (2 * 0.5116667 / 4) = 0.00434311. At the start's 1/2 all would count 1.
    """
    rule = GaussianWeight(2, 1, momentum=0.5, sigmas=2.0)
    weights = rule(torch.tensor([[[0.6, 0.4], [0.2, 0.8], [0.9, 0.1]]]))
    torch.testing.assert_close(rule.mean, torch.tensor([0.633333]))
    torch.testing.assert_close(rule.variance, torch.tensor([0.5116667]))
    torch.testing.assert_close(weights, torch.tensor([[exp(-0.00434311), 1.0, 1.0]]))


def test_of_two_texts_alone_the_lower_counts_one_over_e():
    """m 0, d apart: d/2 below the mean, variance d^2 / 2 (unbiased): (d^2 / 4) / (2 (d^2 / 2) / 4) = 1."""
    weights = GaussianWeight(2, 1, momentum=0.0, sigmas=2.0)(torch.tensor([[[0.9, 0.1], [0.4, 0.6]]]))
    torch.testing.assert_close(weights, torch.tensor([[1.0, exp(-1)]]))


def test_a_batch_of_one_text_stays_a_number():
    rule = GaussianWeight(2, 1, momentum=0.5, sigmas=2.0)
    assert rule(torch.tensor([[[0.9, 0.1]]])).tolist() == [[1.0]]
    assert rule.variance.tolist() == [0.5]


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_every_network_starts_at_one_over_c_with_variance_one(networks):
    rule = GaussianWeight(4, networks, momentum=0.999, sigmas=2.0)
    assert rule.mean.tolist() == [0.25] * networks
    assert rule.variance.tolist() == [1.0] * networks


def test_each_network_has_its_own_mean():
    rule = GaussianWeight(2, 2, momentum=0.0, sigmas=2.0)
    rule(torch.tensor([[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.6, 0.4]]]))
    torch.testing.assert_close(rule.mean, torch.tensor([0.8, 0.55]))
