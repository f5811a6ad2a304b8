"""The supervised baseline, and the supervised loss that every algorithm has."""

from math import log

import torch

from jointmatch.algorithms import Supervised
from jointmatch.types import Step, Task

STEP = Step(torch.arange(2))


def test_it_asks_for_no_unlabelled_text_and_selects_none():
    rule = Supervised(Task(3, num_networks=2))
    labels = rule.pseudo_label(torch.randn(2, 4, 3), STEP)
    assert not rule.uses_unlabeled
    assert not labels.selected.any()
    assert Supervised(Task(2)).pseudo_label(torch.tensor([[[0.0, 1.0], [2.0, 1.0]]]), STEP).targets.tolist() == [[1, 0]]
    assert rule.thresholds() is None


def test_the_supervised_loss_is_the_mean_cross_entropy_of_each_network():
    """Labels 0, 1. f gives 1/4, 3/4: (ln 4 + ln 4/3) / 2 = 0.836988. g gives 1/2: ln 2."""
    f, g = [[0.25, 0.75]] * 2, [[0.5, 0.5]] * 2
    loss = Supervised(Task(2, num_networks=2)).supervised_loss(torch.tensor([f, g]).log(), torch.tensor([0, 1]), STEP)
    torch.testing.assert_close(loss, torch.tensor([0.836988, log(2)]))
