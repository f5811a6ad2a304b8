"""FlexMatch: FixMatch with a threshold per class that grows with what the pool has been confidently given."""

from math import log

import pytest
import torch

from jointmatch.algorithms import FixMatch, FlexMatch
from jointmatch.types import Step, Task


def logits(*first_class):
    p = torch.tensor([first_class])
    return torch.stack([p, 1 - p], -1).log()


def test_a_class_not_yet_learnt_passes_where_the_learnt_one_does_not():
    """tau 0.9, a pool of 4, text 0 confident for class 0: thresholds (0.9, 0) without the warm-up. Of 0.8 for class 0
    and 0.6 for class 1 only the latter counts, with strong probability 1/4 of its label: ln 4 / 2."""
    rule = FlexMatch(Task(2, 1, pool_size=4), tau=0.9, warm_up=False)
    rule.pseudo_label(logits(0.95), Step(torch.tensor([0])))
    step = Step(torch.tensor([1, 2]))
    labels = rule.pseudo_label(logits(0.8, 0.4), step)
    assert labels.targets.tolist() == [[0, 1]]
    assert labels.selected.tolist() == [[False, True]]
    torch.testing.assert_close(rule.thresholds(), torch.tensor([[0.9, 0.0]]))
    loss = rule.unsupervised_loss(logits(0.5, 0.75), labels, step)
    torch.testing.assert_close(loss, torch.tensor([log(4) / 2]))


def test_warming_up_the_same_texts_all_pass():
    """Three texts never confident: beta (1/3, 0), thresholds 0.9 * (1/3) / (5/3) = 0.18 and 0."""
    rule = FlexMatch(Task(2, 1, pool_size=4), tau=0.9)
    rule.pseudo_label(logits(0.95), Step(torch.tensor([0])))
    assert rule.pseudo_label(logits(0.8, 0.4), Step(torch.tensor([1, 2]))).selected.tolist() == [[True, True]]
    torch.testing.assert_close(rule.thresholds(), torch.tensor([[0.18, 0.0]]))


@pytest.mark.parametrize("warm_up", [True, False])
@pytest.mark.parametrize(("networks", "classes"), [(1, 2), (2, 4), (3, 150)])
def test_with_every_class_equally_learnt_it_is_exactly_fixmatch(networks, classes, warm_up):
    task = Task(classes, networks, pool_size=3 * classes)
    flexmatch, fixmatch = FlexMatch(task, tau=0.7, warm_up=warm_up), FixMatch(task, tau=0.7)
    flexmatch.threshold.latest.copy_(torch.arange(classes).repeat(3))
    weak, strong = 5 * torch.randn(2, networks, 3 * classes, classes, generator=torch.Generator().manual_seed(0))
    step = Step(torch.arange(3 * classes))
    mine, theirs = flexmatch.pseudo_label(weak, step), fixmatch.pseudo_label(weak, step)
    assert 0 < mine.selected.sum() < mine.selected.numel()
    for field in ("targets", "selected", "weights"):
        assert torch.equal(getattr(mine, field), getattr(theirs, field))
    assert torch.equal(
        flexmatch.unsupervised_loss(strong, mine, step), fixmatch.unsupervised_loss(strong, theirs, step)
    )


def test_the_whole_memory_is_saved():
    first, second = FlexMatch(Task(2, 1, pool_size=4)), FlexMatch(Task(2, 1, pool_size=4))
    first.pseudo_label(logits(0.97), Step(torch.tensor([3])))
    second.load_state_dict(first.state_dict())
    assert second.threshold.latest.tolist() == [[-1, -1, -1, 0]]
