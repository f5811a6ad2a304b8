"""Co-Training: the peer's label above one threshold, every text counting once, on one view.

Two classes, tau 0.8. Probabilities of class 0, f: 0.9, 0.6, 0.1 and g: 0.7, 0.2, 0.95.
Confident f 1 0 1, g 0 1 1; labels f 0 0 1, g 0 1 0. So f learns . 1 0 and g learns 0 . 1.
"""

from math import log

import torch

from jointmatch.algorithms import CoTraining, JointMatch
from jointmatch.resolve import resolve
from jointmatch.types import Step, Task

STEP = Step(torch.arange(3))
TASK = Task(num_classes=2, num_networks=2)


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


WEAK = logits([[0.9, 0.6, 0.1], [0.7, 0.2, 0.95]])


def test_each_network_learns_the_others_confident_labels():
    labels = CoTraining(TASK, tau=0.8).pseudo_label(WEAK, STEP)
    assert labels.targets.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert labels.selected.tolist() == [[False, True, True], [True, False, True]]
    assert labels.weights.tolist() == [[1.0] * 3] * 2


def test_the_loss_is_averaged_over_the_whole_batch():
    """Student probabilities of class 0 all 1/4: f learns 1 and 0, (ln 4/3 + ln 4) / 3; g learns 0 and 1, the same."""
    rule = CoTraining(TASK, tau=0.8)
    loss = rule.unsupervised_loss(logits([[0.25] * 3] * 2), rule.pseudo_label(WEAK, STEP), STEP)
    torch.testing.assert_close(loss, torch.tensor([(log(4) + log(4 / 3)) / 3] * 2))


def test_it_is_jointmatch_without_adaptive_thresholds_and_weights():
    draw = torch.Generator().manual_seed(0)
    task = Task(5, 3)
    mine = CoTraining(task, tau=0.6)
    theirs = JointMatch(task, tau=0.6, threshold="fixed", weighting="uniform")
    for number in range(3):
        weak, strong = torch.randn(2, 3, 50, 5, generator=draw) * 3
        step = Step(torch.arange(50), number)
        a, b = mine.pseudo_label(weak, step), theirs.pseudo_label(weak, step)
        assert 0 < a.selected.sum() < a.selected.numel()
        assert torch.equal(mine.unsupervised_loss(strong, a, step), theirs.unsupervised_loss(strong, b, step))


def test_the_student_reads_the_view_the_teacher_reads():
    config = resolve({"algorithm": {"name": "cotraining"}, "training": {"recipe": "paper"}}, "full")
    assert config.augment.strong == (config.augment.weak,)
