"""FreeMatch's thresholds: t * P / max P, three running means counting the batch before it is judged.

m 0.5, two classes, top probabilities 0.9, 0.6, 0.8 for labels 0 0 1, from t 1/2, P (1/2, 1/2), h (1/2, 1/2):
    t = 0.5 * 0.5 + 0.5 * 2.3/3 = 0.633333
    P = 0.5 * 0.5 + 0.5 * (1.7, 1.3)/3 = (0.533333, 0.466667)
    h = 0.5 * 0.5 + 0.5 * (2, 1)/3 = (0.583333, 0.416667)
    thresholds 0.633333 * (1, 0.466667 / 0.533333) = (0.633333, 0.554167)
"""

import pytest
import torch

from jointmatch.selection import AdaptiveThreshold, FixedThreshold, SelfAdaptiveThreshold

BATCH = torch.tensor([[[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]])


def test_the_three_running_means_take_the_batch_in():
    rule = SelfAdaptiveThreshold(2, 1, momentum=0.5)
    rule(BATCH)
    torch.testing.assert_close(rule.confidence, torch.tensor([0.633333]))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.533333, 0.466667]]), rtol=0, atol=1e-6)
    torch.testing.assert_close(rule.label_share, torch.tensor([[0.583333, 0.416667]]), rtol=0, atol=1e-6)
    torch.testing.assert_close(rule.current(), torch.tensor([[0.633333, 0.554167]]), rtol=0, atol=1e-6)


def test_the_batch_counts_before_it_is_judged():
    """0.6 reaches the 0.5 of the start, not the 0.6333 of this batch."""
    assert SelfAdaptiveThreshold(2, 1, momentum=0.5)(BATCH).tolist() == [[True, False, True]]


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_all_start_at_one_over_c(networks):
    rule = SelfAdaptiveThreshold(4, networks, momentum=0.999)
    assert rule.confidence.tolist() == [0.25] * networks
    assert rule.class_mean.tolist() == rule.label_share.tolist() == [[0.25] * 4] * networks
    assert rule.current().tolist() == [[0.25] * 4] * networks


def test_at_momentum_one_nothing_moves_and_a_confidence_of_one_over_c_passes():
    rule = SelfAdaptiveThreshold(2, 1, momentum=1.0)
    assert rule(torch.tensor([[[0.5, 0.5], [0.9, 0.1]]])).tolist() == [[True, True]]
    assert rule.confidence.tolist() == [0.5]


def test_with_constant_means_it_is_a_fixed_threshold():
    rule, fixed = SelfAdaptiveThreshold(3, 2, momentum=1.0), FixedThreshold(0.7, 3, 2)
    rule.confidence.fill_(0.7)
    batch = (3 * torch.randn(2, 64, 3, generator=torch.Generator().manual_seed(0))).softmax(-1)
    assert torch.equal(rule(batch), fixed(batch))
    assert 0 < fixed(batch).sum() < 128


def test_each_network_has_its_own_means():
    """m 0: the second network's batch is the first one's with the classes exchanged."""
    rule = SelfAdaptiveThreshold(2, 2, momentum=0.0)
    rule(torch.cat([BATCH, BATCH.flip(-1)]))
    torch.testing.assert_close(rule.class_mean[0], rule.class_mean[1].flip(-1))
    torch.testing.assert_close(rule.label_share, torch.tensor([[2 / 3, 1 / 3], [1 / 3, 2 / 3]]))


def test_the_ratio_between_classes_is_jointmatch_s_at_the_same_momentum():
    free, joint = SelfAdaptiveThreshold(5, 2, momentum=0.9), AdaptiveThreshold(0.98, 5, 2, momentum=0.9)
    draw = torch.Generator().manual_seed(0)
    for _ in range(4):
        batch = (2 * torch.randn(2, 32, 5, generator=draw)).softmax(-1)
        free(batch)
        joint(batch)
        torch.testing.assert_close(free.current() / free.confidence[:, None], joint.current() / 0.98)


def test_where_every_confidence_is_the_same_it_is_jointmatch_s_threshold_at_that_tau():
    """Top probability 0.75 throughout and t at 0.75: t stays, and the masks follow P alone in both. 0.75 passes for
    every class, so the texts compared are a second batch, less sure."""
    free, joint = SelfAdaptiveThreshold(4, 1, momentum=0.5), AdaptiveThreshold(0.75, 4, 1, momentum=0.5)
    free.confidence.fill_(0.75)
    labels = torch.tensor([[0, 0, 0, 0, 1, 1, 2, 3]])
    same = torch.full((1, 8, 4), 0.25 / 3).scatter(-1, labels.unsqueeze(-1), 0.75)
    assert torch.equal(free(same), joint(same))
    torch.testing.assert_close(free.current(), joint.current())
    torch.testing.assert_close(free.confidence, torch.tensor([0.75]))
    assert free.current().min() < 0.5


def test_a_hundred_and_fifty_classes_one_of_them_predicted():
    rule = SelfAdaptiveThreshold(150, 1, momentum=0.0)
    batch = torch.zeros(1, 4, 150)
    batch[..., 7] = 1
    assert rule(batch).all()
    assert rule.current().isfinite().all()
