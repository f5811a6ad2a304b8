"""Classifier and matcher, three texts, two classes: both are taught what both say surely."""

from math import log

import pytest
import torch

from jointmatch.algorithms import PCM, FixMatch
from jointmatch.types import Step, Task


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


def test_both_learn_where_both_agree_and_are_sure():
    """tau 0.9. Class 0 by 0.95 and 0.92; 0.99 and 0.6; 0.02 and 0.97. Only the first counts.
    The students say 1/2 and 1/4 of it: ln 2 / 3 and ln 4 / 3.
    """
    rule = PCM(Task(2, 2), tau=0.9)
    step = Step(torch.arange(3))
    labels = rule.pseudo_label(logits([[0.95, 0.99, 0.02], [0.92, 0.6, 0.97]]), step)
    assert labels.selected.tolist() == [[True, False, False]] * 2
    assert labels.targets[:, 0].tolist() == [0, 0]
    loss = rule.unsupervised_loss(logits([[0.5, 0.1, 0.1], [0.25, 0.1, 0.1]]), labels, step)
    torch.testing.assert_close(loss, torch.tensor([log(2) / 3, log(4) / 3]))


@pytest.mark.parametrize("networks", [1, 3])
def test_where_all_networks_say_the_same_it_is_fixmatch(networks):
    draw = torch.Generator().manual_seed(0)
    same = 3 * torch.randn(1, 40, 5, generator=draw).expand(networks, -1, -1)
    task, step = Task(5, networks), Step(torch.arange(40))
    mine, theirs = (rule(task, tau=0.6).pseudo_label(same, step) for rule in (PCM, FixMatch))
    assert 0 < mine.selected.sum() < mine.selected.numel()
    for name in ("targets", "selected", "weights"):
        assert torch.equal(getattr(mine, name), getattr(theirs, name))


def test_it_says_that_it_is_unverified():
    assert "experimental" in PCM.unverified
