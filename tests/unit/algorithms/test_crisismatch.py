"""CrisisMatch on four texts and two augmentations, worked by hand.

Probabilities of class 0:  0.9 0.8 0.2 0.375  and  0.8 0.6 0.2 0.125: means 0.85, 0.7, 0.2, 0.25.
Confidences 0.85, 0.7, 0.8, 0.75: all but the second reach 0.75, with labels 0 . 1 1.
"""

import numpy as np
import pytest
import torch

from jointmatch.algorithms import CrisisMatch
from jointmatch.selection import MIXING_DEPTHS
from jointmatch.training.mixing import in_every_view
from jointmatch.types import Step, Task

VIEWS = [[[0.9, 0.8, 0.2, 0.375]], [[0.8, 0.6, 0.2, 0.125]]]
STEP = Step(torch.arange(4), number=250, total=2000)


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


def test_the_label_is_that_of_the_mean_prediction_where_it_is_sure():
    labels = CrisisMatch(Task(2)).pseudo_label(logits(VIEWS), STEP)
    assert labels.targets.tolist() == [[0, 0, 1, 1]]
    assert labels.selected.tolist() == [[True, False, True, True]]


def test_the_loss_is_the_mean_squared_error_over_the_selected_texts():
    """Strong (1/2, 1/2): each error 0.25, whatever the label, so the mean over three is 0.25 and not 3/16; step 250 of
    the ramp's 1,000: w_u 10 has grown to 2.5."""
    rule = CrisisMatch(Task(2))
    labels = rule.pseudo_label(logits(VIEWS), STEP)
    loss = rule.unsupervised_loss(torch.zeros(1, 4, 2), labels, STEP)
    torch.testing.assert_close(loss, torch.tensor([2.5 * 0.25]))
    twice = rule.unsupervised_loss(torch.zeros(1, 8, 2), in_every_view(labels, 2, STEP.index, [len(STEP.index)]), STEP)
    torch.testing.assert_close(twice, loss)


@pytest.mark.parametrize(("number", "weight"), [(0, 0.0), (500, 5.0), (1000, 10.0), (1500, 10.0)])
def test_the_weight_grows_over_a_thousand_steps(number, weight):
    assert CrisisMatch(Task(2)).weight_at(Step(torch.arange(1), number, 2000)) == weight


def test_no_text_is_mixed_with_one_that_was_not_selected():
    rule = CrisisMatch(Task(2))
    labels = rule.pseudo_label(logits(VIEWS), STEP)
    shares, depths = [], set()
    for seed in range(200):
        mixing = rule.mixing(3, labels, STEP, np.random.default_rng(seed))
        assert mixing.partner.shape == (1, 7)
        depths.add(mixing.depth)
        assert sorted(mixing.partner[0, :3].tolist()) == [0, 1, 2]
        assert 4 not in mixing.partner[0, 3:].tolist()
        shares.append(mixing.share)
    assert depths == set(MIXING_DEPTHS)
    assert np.mean(shares) == pytest.approx(0.777, abs=0.03), "of max(l, 1 - l) under Beta(0.75, 0.75)"


def test_labelled_texts_without_unlabelled_ones_are_mixed_among_themselves():
    mixing = CrisisMatch(Task(2, 2)).mixing(3, None, STEP, np.random.default_rng(0))
    assert [sorted(own) for own in mixing.partner.tolist()] == [[0, 1, 2]] * 2
