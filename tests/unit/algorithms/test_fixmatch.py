"""FixMatch: own labels above one threshold, every text counting once."""

from math import log

import torch

from jointmatch.algorithms import FixMatch
from jointmatch.types import Step, Task

STEP = Step(torch.arange(3))
WEAK = torch.tensor([[[0.97, 0.03], [0.8, 0.2], [0.02, 0.98]]]).log()


def test_the_weak_views_confident_label_is_the_target():
    labels = FixMatch(Task(2), tau=0.95).pseudo_label(WEAK, STEP)
    assert labels.targets.tolist() == [[0, 0, 1]]
    assert labels.selected.tolist() == [[True, False, True]]
    assert labels.weights.tolist() == [[1.0, 1.0, 1.0]]


def test_the_loss_is_averaged_over_the_whole_batch_and_weighted():
    """Strong views 1/4, 3/4 each: (ln 4 + 0 + ln 4/3) / 3, times w_u = 2: 2/3 (1.386294 + 0.287682) = 1.115984."""
    rule = FixMatch(Task(2), tau=0.95, unlabeled_weight=2.0)
    strong = torch.tensor([[[0.25, 0.75]] * 3]).log()
    loss = rule.unsupervised_loss(strong, rule.pseudo_label(WEAK, STEP), STEP)
    torch.testing.assert_close(loss, torch.tensor([2 / 3 * (log(4) + log(4 / 3))]))


def test_the_threshold_never_moves():
    rule = FixMatch(Task(2, num_networks=2), tau=0.95)
    before = rule.thresholds()
    rule.pseudo_label(WEAK.repeat(2, 1, 1), STEP)
    torch.testing.assert_close(rule.thresholds(), before)
    torch.testing.assert_close(before, torch.full((2, 2), 0.95))


def test_two_networks_under_fixmatch_do_not_see_each_other():
    rule = FixMatch(Task(2, num_networks=2), tau=0.95)
    labels = rule.pseudo_label(torch.cat([WEAK, WEAK.flip(-1)]), STEP)
    assert labels.targets.tolist() == [[0, 0, 1], [1, 1, 0]]
