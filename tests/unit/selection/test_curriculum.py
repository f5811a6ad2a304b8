"""FlexMatch's thresholds: tau * beta / (2 - beta), beta counting the pool's latest confident labels."""

import pytest
import torch

from jointmatch.selection import CurriculumThreshold, learning_status
from jointmatch.types import Step


def probs(*first_class):
    """One network's probabilities (1, B, 2)."""
    p = torch.tensor([first_class])
    return torch.stack([p, 1 - p], -1)


def texts(*index):
    return Step(torch.tensor(index))


def test_a_class_is_learnt_by_its_count_over_the_largest():
    """(6, 3, 1) of which 2 texts are missing: over 6, (1, 1/2, 1/6), with and without the warm-up."""
    for warm_up in (True, False):
        beta = learning_status(torch.tensor([[6.0, 3.0, 1.0]]), torch.tensor([2.0]), warm_up)
        torch.testing.assert_close(beta, torch.tensor([[1, 1 / 2, 1 / 6]]))


@pytest.mark.parametrize(("warm_up", "beta"), [(True, [1 / 2, 1 / 4, 1 / 12]), (False, [1, 1 / 2, 1 / 6])])
def test_while_warming_up_the_texts_never_confident_count_as_a_class(warm_up, beta):
    """(6, 3, 1) with 12 never confident: over 12, or over 6 without the warm-up."""
    found = learning_status(torch.tensor([[6.0, 3.0, 1.0]]), torch.tensor([12.0]), warm_up)
    torch.testing.assert_close(found, torch.tensor([beta]))


@pytest.mark.parametrize("warm_up", [True, False])
def test_before_any_text_was_confident_nothing_is_learnt(warm_up):
    assert learning_status(torch.zeros(1, 2), torch.tensor([9.0]), warm_up).tolist() == [[0.0, 0.0]]


def test_the_map_is_convex():
    """tau 0.9, beta (1, 1/2, 0): 0.9 * (1, (1/2) / (3/2), 0) = (0.9, 0.3, 0)."""
    rule = CurriculumThreshold(0.9, 3, 1, pool_size=4, warm_up=True)
    rule.status.copy_(torch.tensor([[1.0, 0.5, 0.0]]))
    torch.testing.assert_close(rule.current(), torch.tensor([[0.9, 0.3, 0.0]]))


@pytest.mark.parametrize("warm_up", [True, False])
@pytest.mark.parametrize("networks", [1, 2, 3])
def test_the_first_batch_passes_whole(networks, warm_up):
    rule = CurriculumThreshold(0.95, 2, networks, pool_size=8, warm_up=warm_up)
    batch = probs(0.9, 0.5, 0.3).expand(networks, 3, 2)
    assert rule.current().tolist() == [[0.0, 0.0]] * networks
    assert rule(batch, texts(0, 1, 2)).tolist() == [[True] * 3] * networks
    assert rule.current().tolist() == [[0.0, 0.0]] * networks


@pytest.mark.parametrize(("warm_up", "wanted"), [(True, [0.2, 0.8 / 9]), (False, [0.8, 0.8 / 3])])
def test_a_batch_is_held_to_what_the_ones_before_it_left(warm_up, wanted):
    """tau 0.8, a pool of 8. Batch 1, confidence 0.9 0.85 0.7 0.9 for labels 0 0 1 1: two of class 0, one of class 1,
    5 never. Over 5, beta (2/5, 1/5): 0.8 * (0.4 / 1.6, 0.2 / 1.8) = (0.2, 0.0889). Over 2, beta (1, 1/2):
    (0.8, 0.8 / 3).
    """
    rule = CurriculumThreshold(0.8, 2, 1, pool_size=8, warm_up=warm_up)
    rule(probs(0.9, 0.85, 0.3, 0.1), texts(0, 1, 2, 3))
    assert rule.latest.tolist() == [[0, 0, -1, 1, -1, -1, -1, -1]]
    mask = rule(probs(0.7, 0.4), texts(4, 5))
    torch.testing.assert_close(rule.current(), torch.tensor([wanted]))
    assert mask.tolist() == [[warm_up, True]]  # 0.7 for class 0 misses 0.8


def test_a_batch_does_not_raise_its_own_thresholds():
    """After one text of class 0 the thresholds are (0.8, 0): 0.9 and 0.6 for class 1 both pass, though the first of
    them makes it (0.8, 0.8) for the next batch, where 0.6 fails."""
    rule = CurriculumThreshold(0.8, 2, 1, pool_size=4, warm_up=False)
    rule(probs(0.9), texts(0))
    assert rule(probs(0.1, 0.4), texts(1, 2)).tolist() == [[True, True]]
    assert rule(probs(0.1, 0.4), texts(1, 2)).tolist() == [[True, False]]


def test_the_latest_confident_label_stays_until_another_confident_one():
    rule = CurriculumThreshold(0.8, 2, 1, pool_size=3, warm_up=True)
    for first_class, latest in ((0.9, 0), (0.3, 0), (0.7, 0), (0.1, 1), (0.6, 1)):
        rule(probs(first_class), texts(2))
        assert rule.latest.tolist() == [[-1, -1, latest]]


def test_tau_itself_is_enough_to_be_remembered():
    rule = CurriculumThreshold(0.75, 2, 1, pool_size=1, warm_up=True)
    rule(probs(0.75), texts(0))
    assert rule.latest.tolist() == [[0]]


def test_only_what_reaches_tau_is_remembered_however_low_the_thresholds_are():
    rule = CurriculumThreshold(0.95, 2, 1, pool_size=2, warm_up=True)
    assert rule(probs(0.9, 0.8), texts(0, 1)).all()
    assert rule.latest.tolist() == [[-1, -1]]


@pytest.mark.parametrize("twice", [(0.9, 0.6), (0.6, 0.9), (0.9, 0.3)])
def test_a_text_twice_in_a_batch_is_remembered_if_either_is_confident(twice):
    rule = CurriculumThreshold(0.8, 2, 1, pool_size=2, warm_up=True)
    rule(probs(*twice), texts(1, 1))
    assert rule.latest.tolist() == [[-1, 0]]


def test_each_network_has_its_own_memory_and_thresholds():
    """f: one text of each class, thresholds (0.8, 0.8); g: one of class 1, thresholds (0, 0.8)."""
    rule = CurriculumThreshold(0.8, 2, 2, pool_size=2, warm_up=False)
    batch = torch.cat([probs(0.9, 0.1), probs(0.4, 0.1)])
    rule(batch, texts(1, 0))
    assert rule.latest.tolist() == [[1, 0], [1, -1]]
    rule(batch, texts(1, 0))
    torch.testing.assert_close(rule.current(), torch.tensor([[0.8, 0.8], [0.0, 0.8]]))


def test_once_every_class_is_equally_learnt_all_thresholds_are_tau():
    rule = CurriculumThreshold(0.9, 3, 1, pool_size=6, warm_up=True)
    rule.latest.copy_(torch.tensor([[0, 1, 2, 2, 1, 0]]))
    rule(torch.full((1, 1, 3), 1 / 3), texts(0))
    torch.testing.assert_close(rule.current(), torch.full((1, 3), 0.9))
