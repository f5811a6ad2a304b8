"""Decoupling: own labels, where the networks' labels differ, above one threshold.

Two classes, tau 0.8. Probabilities of class 0, f: 0.9, 0.6, 0.1, 0.9 and g: 0.95, 0.2, 0.85, 0.4.
Labels f 0 0 1 0, g 0 1 0 1: they differ on the last three. Confident f 1 0 1 1, g 1 1 1 0.
"""

from math import log

import torch

from jointmatch.algorithms import Decoupling, FixMatch
from jointmatch.resolve import resolve
from jointmatch.types import Step, Task

STEP = Step(torch.arange(4))
TASK = Task(num_classes=2, num_networks=2)


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


WEAK = logits([[0.9, 0.6, 0.1, 0.9], [0.95, 0.2, 0.85, 0.4]])


def test_each_network_learns_its_own_labels_where_they_differ():
    labels = Decoupling(TASK, tau=0.8).pseudo_label(WEAK, STEP)
    assert labels.targets.tolist() == [[0, 0, 1, 0], [0, 1, 0, 1]]
    assert labels.selected.tolist() == [[False, False, True, True], [False, True, True, False]]


def test_without_a_threshold_every_text_whose_labels_differ_is_used():
    labels = Decoupling(TASK, tau=0.0).pseudo_label(WEAK, STEP)
    assert labels.selected.tolist() == [[False, True, True, True]] * 2


def test_texts_that_are_used_count_once_over_the_whole_batch():
    """Student probabilities of class 0 all 1/4: f learns 1 and 0, g 1 and 0: (ln 4/3 + ln 4) / 4."""
    rule = Decoupling(TASK, tau=0.8)
    loss = rule.unsupervised_loss(logits([[0.25] * 4] * 2), rule.pseudo_label(WEAK, STEP), STEP)
    torch.testing.assert_close(loss, torch.tensor([(log(4) + log(4 / 3)) / 4] * 2))


def test_networks_that_agree_everywhere_learn_nothing():
    labels = Decoupling(TASK, tau=0.0).pseudo_label(WEAK[:1].repeat(2, 1, 1), STEP)
    assert not labels.selected.any()


def test_with_every_text_it_is_fixmatch():
    mine, theirs = Decoupling(TASK, tau=0.8, weighting="uniform"), FixMatch(TASK, tau=0.8)
    a, b = mine.pseudo_label(WEAK, STEP), theirs.pseudo_label(WEAK, STEP)
    for name in ("targets", "selected", "weights"):
        assert torch.equal(getattr(a, name), getattr(b, name))


def test_the_student_reads_the_view_the_teacher_reads():
    config = resolve({"algorithm": {"name": "decoupling"}, "training": {"recipe": "paper"}}, "full")
    assert config.augment.strong == (config.augment.weak,)
