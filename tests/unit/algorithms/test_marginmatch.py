"""FlexMatch's mask, a running margin and a cut, by hand.

Two classes and the virtual one, number 2; four texts, tau 0.6, d 1. FlexMatch's thresholds are 0 while no text was
confident before, so its mask is open in the first batch.
"""

from math import log

import pytest
import torch

from jointmatch.algorithms import FlexMatch, MarginMatch
from jointmatch.types import Step, Task

TASK = Task(num_classes=2, num_networks=1, pool_size=4)
# Ahead of all others by 2, of the virtual class by 1, behind it by 1, and by 0.
WEAK = torch.tensor([[[2.0, 0.0, 0.0], [0.0, 3.0, 2.0], [0.0, 1.0, 2.0], [0.0, 1.0, 1.0]]])


def at(number, total=10):
    return Step(torch.arange(4), number, total)


def rule(**settings):
    never = {"virtual_begin": 1.0, "virtual_end": 1.0}
    return MarginMatch(TASK, **{"tau": 0.6, "smoothing": 1.0, **never} | settings)


@pytest.mark.parametrize("networks", [1, 2, 3])
@pytest.mark.parametrize("classes", [2, 150])
@pytest.mark.parametrize("warm_up", [True, False])
def test_before_any_draw_it_is_exactly_flexmatch(networks, classes, warm_up):
    task = Task(classes, networks, pool_size=50)
    mine = MarginMatch(task, tau=0.9, warm_up=warm_up, virtual_begin=1.0, virtual_end=1.0)
    theirs = FlexMatch(task, tau=0.9, warm_up=warm_up)
    draw = torch.Generator().manual_seed(0)
    for number in range(4):
        weak = torch.randn(networks, 50, classes + 1, generator=draw) * (1 if classes == 2 else 4)
        step = Step(torch.randperm(50, generator=draw), number, 10)
        one, other = mine.pseudo_label(weak, step), theirs.pseudo_label(weak[..., :classes], step)
        for name in ("targets", "selected", "weights"):
            assert torch.equal(getattr(one, name), getattr(other, name))
        assert torch.equal(mine.thresholds(), theirs.thresholds())
    assert warm_up or classes > 2 or not one.selected.all()


def test_labels_are_of_the_two_classes_though_the_virtual_one_is_ahead():
    labels = rule().pseudo_label(WEAK, at(0))
    assert labels.targets.tolist() == [[0, 1, 1, 1]]


def test_the_margin_of_the_label_must_reach_the_cut():
    """Margins of the labels over all three outputs: 2 1 -1 0, and the first draw's cut is 0, which 0 reaches."""
    drawn = rule(virtual_begin=0.0, virtual_share=0.0)
    labels = drawn.pseudo_label(WEAK, at(0))
    assert drawn.virtual.cut.item() == 0.0
    assert labels.selected.tolist() == [[True, True, False, True]]


def test_a_long_lead_outweighs_one_bad_visit():
    """Text 1 led by 1, then is behind by 1: mean 0, kept. Text 2 behind by 1, then ahead by 1: kept as well. Text 0
    led by 2, then is behind by 3: mean -0.5, dropped.
    """
    drawn = rule(virtual_begin=0.0, virtual_share=0.0, tau=0.0)
    drawn.pseudo_label(WEAK, at(0))
    again = torch.tensor([[[3.0, 0.0, 6.0], [0.0, 3.0, 4.0], [0.0, 3.0, 2.0], [0.0, 1.0, 1.0]]])
    assert drawn.pseudo_label(again, at(1)).selected.tolist() == [[False, True, True, True]]


def virtual_rule(**settings):
    """Text 1 alone is virtual."""
    drawn = rule(virtual_begin=0.0, virtual_end=1.0, virtual_share=0.25, virtual_draws=1, **settings)
    drawn.pseudo_label(WEAK, at(0))
    drawn.virtual.place.copy_(torch.tensor([1, 0, 1, 1]))
    drawn.margins.reset()
    drawn.virtual.margins.reset()
    return drawn


def test_a_virtual_text_is_taught_the_virtual_class_as_much_as_the_share_of_the_others_that_are_taught():
    """Kept 0 and 3 of the three others, thresholds still 0: text 1 weighs 2/3."""
    labels = virtual_rule().pseudo_label(WEAK, at(1))
    assert labels.targets.tolist() == [[0, 2, 1, 1]]
    assert labels.selected.tolist() == [[True, True, False, True]]
    torch.testing.assert_close(labels.weights, torch.tensor([[1.0, 2 / 3, 1.0, 1.0]]))


@pytest.mark.parametrize(("texts", "weights"), [([1], [0.0]), ([1, 0], [1.0, 1.0])])
def test_a_virtual_text_weighs_nothing_alone_and_as_much_as_the_only_other_one_if_that_is_taught(texts, weights):
    labels = virtual_rule().pseudo_label(WEAK[:, texts], Step(torch.tensor(texts), 1, 10))
    assert labels.weights.tolist() == [weights]


def test_a_virtual_text_has_only_its_virtual_margin_measured():
    """The virtual class is behind by 1 on text 1; its own running margins stay as they were."""
    drawn = virtual_rule()
    drawn.pseudo_label(WEAK, at(1))
    assert drawn.margins.visits[:4].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert not drawn.margins.mean[:, 1].any()
    assert drawn.virtual.margins.mean[0, 0, 0].item() == -1.0


def test_flexmatch_remembers_no_label_of_a_virtual_text():
    drawn = virtual_rule()
    drawn.threshold.latest.fill_(-1)
    drawn.pseudo_label(WEAK, at(1))
    assert drawn.threshold.latest.tolist() == [[0, -1, 1, 1]]


def test_the_labelled_texts_push_the_virtual_class_down():
    """CE over all three outputs, equal logits: ln 3; the gradient of the virtual logit is its probability, 1/3."""
    logits = torch.zeros(1, 1, 3, requires_grad=True)
    loss = rule().supervised_loss(logits, torch.tensor([0]), at(0))
    loss.sum().backward()
    assert loss.item() == pytest.approx(log(3))
    assert logits.grad is not None
    assert logits.grad[0, 0, 2].item() == pytest.approx(1 / 3)


def test_the_unsupervised_loss_counts_the_virtual_text_by_its_weight():
    """Equal strong logits: ln 3 each. (1 + 2/3 + 0 + 1) / 4 ln 3 = 2/3 ln 3."""
    drawn = virtual_rule()
    labels = drawn.pseudo_label(WEAK, at(1))
    assert drawn.unsupervised_loss(torch.zeros(1, 4, 3), labels, at(1)).item() == pytest.approx(2 / 3 * log(3))
