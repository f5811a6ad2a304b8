"""SoftMatch: every text counts, by a truncated Gaussian of its aligned confidence.

m 0, n 2, weak probabilities of class 0: 0.8, 0.8, 0.3. Class mean (1.9, 1.1) / 3. Aligned, the first two have
    (0.8/1.9, 0.2/1.1): 0.88 / (0.88 + 0.38) = 0.698413, the third 0.7 * 1.9 / (0.7 * 1.9 + 0.3 * 1.1) = 0.801205.
With d between them the first two lie d/3 below the mean, variance (2 (d/3)^2 + (2d/3)^2) / 2 = d^2 / 3:
    (d^2 / 9) / (2 (d^2 / 3) / 4) = 2/3: weights e^-2/3, e^-2/3, 1.
Not aligned, 0.8 0.8 0.7, the third lies 2d/3 below: (4/9) * 6 = 8/3: weights 1, 1, e^-8/3.
"""

from functools import partial
from math import exp, log

import pytest
import torch

from jointmatch.algorithms import FixMatch, SoftMatch
from jointmatch.types import Step, Task

STEP = Step(torch.arange(3))


def logits(*first_class):
    p = torch.tensor([first_class])
    return torch.stack([p, 1 - p], -1).log()


WEAK, STRONG = logits(0.8, 0.8, 0.3), logits(1 / 2, 1 / 4, 3 / 4)
assert_close = partial(torch.testing.assert_close, rtol=0, atol=1e-4)  # the class mean is kept off zero by 1e-6


def test_weights_follow_the_aligned_confidence_and_nothing_is_left_out():
    labels = SoftMatch(Task(2), momentum=0.0).pseudo_label(WEAK, STEP)
    assert_close(labels.weights, torch.tensor([[exp(-2 / 3), exp(-2 / 3), 1.0]]))
    assert labels.selected.all()


def test_without_alignment_they_follow_the_confidence_itself():
    labels = SoftMatch(Task(2), momentum=0.0, weight_alignment="none").pseudo_label(WEAK, STEP)
    assert_close(labels.weights, torch.tensor([[1.0, 1.0, exp(-8 / 3)]]))


def test_the_label_is_the_prediction_s_own_not_the_aligned_one_s():
    """Of 0.8 and 0.6, mean (0.7, 0.3), the second becomes (9, 14) / 23: aligned it would be class 1."""
    labels = SoftMatch(Task(2)).pseudo_label(logits(0.8, 0.6), Step(torch.arange(2)))
    assert labels.targets.tolist() == [[0, 0]]


def test_the_loss_is_weighted_and_divided_by_the_whole_batch():
    """Labels 0 0 1, strong 1/2, 1/4, 1/4 of them: (e^-2/3 ln 2 + e^-2/3 ln 4 + ln 4) / 3."""
    rule = SoftMatch(Task(2), momentum=0.0)
    loss = rule.unsupervised_loss(STRONG, rule.pseudo_label(WEAK, STEP), STEP)
    assert_close(loss, torch.tensor([(exp(-2 / 3) * 3 * log(2) + log(4)) / 3]))


def test_soft_targets_too_are_not_aligned():
    labels = SoftMatch(Task(2), targets="soft").pseudo_label(WEAK, STEP)
    torch.testing.assert_close(labels.targets, WEAK.exp())


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_above_the_mean_every_text_counts_once(networks):
    """At the published momentum the mean is still near 1/C after one batch."""
    rule, everything = SoftMatch(Task(5, networks), weight_alignment="none"), FixMatch(Task(5, networks), tau=0.0)
    weak = 4 * torch.randn(networks, 20, 5, generator=torch.Generator().manual_seed(0))
    weak += 2 * (weak == weak.amax(-1, keepdim=True))
    step = Step(torch.arange(20))
    mine, theirs = rule.pseudo_label(weak, step), everything.pseudo_label(weak, step)
    for field in ("targets", "selected", "weights"):
        assert torch.equal(getattr(mine, field), getattr(theirs, field))


def test_without_variance_it_is_fixmatch_with_the_mean_as_threshold():
    task, step = Task(3, 2), Step(torch.arange(50))
    softmatch, fixmatch = SoftMatch(task, momentum=1.0, weight_alignment="none"), FixMatch(task, tau=0.7)
    softmatch.gaussian.mean.fill_(0.7)
    softmatch.gaussian.variance.zero_()
    weak, strong = 2 * torch.randn(2, 2, 50, 3, generator=torch.Generator().manual_seed(0))
    mine, theirs = softmatch.pseudo_label(weak, step), fixmatch.pseudo_label(weak, step)
    assert 0 < theirs.selected.sum() < 100
    torch.testing.assert_close(mine.weights, theirs.selected.float())
    torch.testing.assert_close(
        softmatch.unsupervised_loss(strong, mine, step), fixmatch.unsupervised_loss(strong, theirs, step)
    )
