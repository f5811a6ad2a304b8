"""Co-Teaching+ on five texts, two classes, worked by hand.

Every label is 0. Student probabilities of class 0, f: 3/4, 1/4, 5/8, 7/8, 1/8 and g: 1/4, 3/4, 3/8, 7/8, 1/8: the
predictions differ on texts 0, 1, 2. Losses there, f: ln 4/3, ln 4, ln 8/5 and g: ln 4, ln 4/3, ln 8/3.
With noise 0.3 and no warm-up int(0.7 * 3) = 2 of them are picked: by f 0 and 2, by g 1 and 2.
So f learns from 1 and 2, (ln 4 + ln 8/5) / 2, and g from 0 and 2, (ln 4 + ln 8/3) / 2.
"""

from math import log

import pytest
import torch

from jointmatch.algorithms import CoTeaching, CoTeachingPlus
from jointmatch.types import PseudoLabels, Step, Task

TASK = Task(num_classes=2, num_networks=2)
ZEROS = PseudoLabels(torch.zeros(2, 5, dtype=torch.long), torch.ones(2, 5, dtype=torch.bool), torch.ones(2, 5))


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


STUDENT = logits([[3 / 4, 1 / 4, 5 / 8, 7 / 8, 1 / 8], [1 / 4, 3 / 4, 3 / 8, 7 / 8, 1 / 8]])
AGREED = logits([[3 / 4, 1 / 4, 5 / 8, 7 / 8, 1 / 8], [3 / 4, 1 / 4, 7 / 8, 5 / 8, 1 / 8]])


def at(number: int, total: int = 100) -> Step:
    return Step(torch.arange(5), number, total)


@pytest.mark.parametrize("number", [0, 99])
def test_small_losses_are_exchanged_among_texts_whose_predictions_differ(number):
    """Of the cross-entropy of the logits themselves: a second softmax would give other numbers."""
    loss = CoTeachingPlus(TASK, noise=0.3, warmup=0.0).unsupervised_loss(STUDENT, ZEROS, at(number))
    torch.testing.assert_close(loss, torch.tensor([log(4) + log(8 / 5), log(4) + log(8 / 3)]) / 2)


@pytest.mark.parametrize(("number", "used"), [(0, True), (27, True), (28, False), (99, False)])
def test_where_no_predictions_differ_all_texts_count_early_and_none_later(number, used):
    """All five, without picking, while less than 0.28 of the training is done: f (4/3, 4, 8/5, 8/7, 8 in logs) / 5."""
    loss = CoTeachingPlus(TASK, noise=0.3, warmup=0.0).unsupervised_loss(AGREED, ZEROS, at(number))
    f = (log(4 / 3) + log(4) + log(8 / 5) + log(8 / 7) + log(8)) / 5
    torch.testing.assert_close(loss, torch.tensor([f, f]) * used)


@pytest.mark.parametrize(("number", "plain"), [(0, True), (9, True), (10, False)])
def test_it_may_start_as_plain_co_teaching(number, plain):
    settings = {"noise": 0.3, "warmup": 0.0}
    mine = CoTeachingPlus(TASK, start=0.1, **settings).unsupervised_loss(STUDENT, ZEROS, at(number))
    theirs = CoTeaching(TASK, **settings).unsupervised_loss(STUDENT, ZEROS, at(number))
    assert torch.equal(mine, theirs) == plain


def test_on_text_it_does_not():
    assert CoTeachingPlus(TASK).start == 0.0


def test_it_is_co_teaching_on_the_rows_whose_predictions_differ():
    draw = torch.Generator().manual_seed(0)
    rule = CoTeachingPlus(Task(4, 2), noise=0.3, warmup=0.0)
    plain = CoTeaching(Task(4, 2), noise=0.3, warmup=0.0)
    for number in range(3):
        weak, student = torch.randn(2, 2, 60, 4, generator=draw)
        step = Step(torch.arange(60), number, 3)
        labels = rule.pseudo_label(weak, step)
        rows = (student[0].argmax(-1) != student[1].argmax(-1)).nonzero().squeeze(-1)
        assert 0 < len(rows) < 60
        some = PseudoLabels(labels.targets[:, rows], labels.selected[:, rows], labels.weights[:, rows])
        wanted = plain.unsupervised_loss(student[:, rows], some, step)
        torch.testing.assert_close(rule.unsupervised_loss(student, labels, step), wanted)


def test_its_labels_are_those_of_co_teaching():
    weak = torch.randn(2, 5, 2, generator=torch.Generator().manual_seed(1))
    mine, theirs = (cls(TASK).pseudo_label(weak, at(0)) for cls in (CoTeachingPlus, CoTeaching))
    assert torch.equal(mine.targets, theirs.targets)
