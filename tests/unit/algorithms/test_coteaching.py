"""Co-Teaching on four texts, two classes, worked by hand.

Every label is 0. Student probabilities of class 0, f: 1/2, 1/4, 3/4, 1/8 and g: 1/2, 1/4, 1/8, 1/16.
Losses f: ln 2, ln 4, ln 4/3, ln 8 and g: ln 2, ln 4, ln 8, ln 16. With noise 0.5 and no warm-up each picks two:
f texts 2 and 0, g texts 0 and 1. So f learns from 0 and 1, (ln 2 + ln 4) / 2 = 1.5 ln 2,
and g from 2 and 0, (ln 8 + ln 2) / 2 = 2 ln 2.
"""

from math import log

import pytest
import torch
from torch.nn.functional import cross_entropy

from jointmatch.algorithms import CoTeaching
from jointmatch.resolve import resolve
from jointmatch.types import PseudoLabels, Step, Task

STEP = Step(torch.arange(4))
TASK = Task(num_classes=2, num_networks=2)
ZEROS = PseudoLabels(torch.zeros(2, 4, dtype=torch.long), torch.ones(2, 4, dtype=torch.bool), torch.ones(2, 4))


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


STUDENT = logits([[1 / 2, 1 / 4, 3 / 4, 1 / 8], [1 / 2, 1 / 4, 1 / 8, 1 / 16]])


def test_all_networks_have_the_label_of_highest_mean_probability():
    """Class 0: (0.9 + 0.4) / 2 = 0.65, (0.6 + 0.3) / 2 = 0.45; the votes alone would tie."""
    labels = CoTeaching(TASK).pseudo_label(logits([[0.9, 0.6], [0.4, 0.3]]), STEP)
    assert labels.targets.tolist() == [[0, 1], [0, 1]]
    assert labels.selected.all()
    assert labels.weights.tolist() == [[1.0, 1.0]] * 2


def test_the_mean_is_of_probabilities_and_not_of_logits():
    """Class 0 by three networks: (0.9 + 0.9 + 0.000001) / 3 = 0.6, while the logits sum to 2 ln 9 - ln 999999 < 0."""
    labels = CoTeaching(Task(2, 3)).pseudo_label(logits([[0.9], [0.9], [1e-6]]), STEP)
    assert labels.targets.tolist() == [[0], [0], [0]]


def test_each_network_learns_from_the_others_pick_by_the_mean_over_it():
    loss = CoTeaching(TASK, noise=0.5, warmup=0.0).unsupervised_loss(STUDENT, ZEROS, STEP)
    torch.testing.assert_close(loss, torch.tensor([1.5, 2.0]) * log(2))


@pytest.mark.parametrize(("number", "kept"), [(0, 4), (1, 3), (2, 3), (3, 2), (4, 2), (39, 2)])
def test_the_pick_shrinks_until_the_warm_up_is_over(number, kept):
    """Noise 0.5, warm-up 0.1 of 40 steps: R = 1 - 0.5 * number / 4 = 1, 7/8, 6/8, 5/8, 1/2: of four 4, 3, 3, 2, 2."""
    rule = CoTeaching(TASK, noise=0.5, warmup=0.1)
    own = {4: (1 + 2 + 3 + 4) / 4, 3: (1 + 3 + 2) / 3, 2: (3 + 1) / 2}[kept]  # g on what f picks: 2, 0, 1, 3 in turn
    loss = rule.unsupervised_loss(STUDENT, ZEROS, Step(torch.arange(4), number, 40))
    torch.testing.assert_close(loss[1], torch.tensor(own * log(2)))


def test_the_published_settings_are_a_fifth_of_noise_and_ten_epochs_of_two_hundred():
    rule = CoTeaching(TASK)
    assert (rule.noise, rule.warmup) == (0.2, 10 / 200)


def test_the_unlabeled_weight_multiplies_it():
    loss = CoTeaching(TASK, noise=0.5, warmup=0.0, unlabeled_weight=3.0).unsupervised_loss(STUDENT, ZEROS, STEP)
    torch.testing.assert_close(loss, torch.tensor([4.5, 6.0]) * log(2))


@pytest.mark.parametrize("networks", [1, 2, 3])
@pytest.mark.parametrize("classes", [2, 150])
def test_it_is_the_mean_loss_on_the_rows_the_peer_sorts_first(networks, classes):
    """The same by sorting rows, taking the first int(R B) and indexing, network by network."""
    draw = torch.Generator().manual_seed(0)
    rule = CoTeaching(Task(classes, networks), noise=0.3, warmup=0.0)
    step = Step(torch.arange(41))
    for _ in range(3):
        weak, student = torch.randn(2, networks, 41, classes, generator=draw)
        labels = rule.pseudo_label(weak, step)
        y = labels.targets[0]
        first = [cross_entropy(own, y, reduction="none").argsort()[: int(0.7 * 41)] for own in student]
        wanted = [cross_entropy(student[i][rows], y[rows]) for i, rows in enumerate(first[1:] + first[:1])]
        torch.testing.assert_close(rule.unsupervised_loss(student, labels, step), torch.stack(wanted))


def test_without_noise_it_is_plain_training_on_every_label():
    loss = CoTeaching(TASK, noise=0.0).unsupervised_loss(STUDENT, ZEROS, Step(torch.arange(4), 9, 10))
    torch.testing.assert_close(
        loss, cross_entropy(STUDENT.flatten(0, 1), torch.zeros(8).long(), reduction="none").view(2, 4).mean(-1)
    )


@pytest.mark.parametrize("name", ["coteaching", "coteachingplus"])
def test_the_student_reads_the_view_the_labels_come_from(name):
    config = resolve({"algorithm": {"name": name}, "training": {"recipe": "paper"}}, "full")
    assert config.augment.strong == (config.augment.weak,)
