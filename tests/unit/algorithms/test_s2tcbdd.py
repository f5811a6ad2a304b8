"""The margin and the balance on cosines, scale 2, worked by hand."""

from math import exp, log

import pytest
import torch

from jointmatch.algorithms import S2TCBDD, FixMatch
from jointmatch.losses import entropy
from jointmatch.types import Step, Task

SCALE = 2.0
STEP = Step(torch.arange(2))


def task(networks=1, classes=2):
    return Task(classes, networks, cosine_scale=SCALE)


def test_the_right_class_must_win_by_the_margin():
    """Cosines 0.5 and 0.2, margin 0.1, class 0: logits 2 (0.5 - 0.1) = 0.8 and 0.4, loss ln(1 + e^-0.4)."""
    loss = S2TCBDD(task(), margin=0.1).supervised_loss(torch.tensor([[[1.0, 0.4]]]), torch.tensor([0]), STEP)
    torch.testing.assert_close(loss, torch.tensor([log(1 + exp(-0.4))]))


def test_soft_targets_are_sharpened_and_take_their_share_of_the_margin():
    """Even cosines of 0: target 1/2 each, both logits lose as much, ln 2; the entropy is ln 2 as well."""
    rule = S2TCBDD(task(), margin=0.3, entropy_weight=0.5)
    labels = rule.pseudo_label(torch.zeros(1, 2, 2), STEP)
    torch.testing.assert_close(labels.targets, torch.full((1, 2, 2), 0.5))
    loss = rule.unsupervised_loss(torch.zeros(1, 2, 2), labels, STEP)
    torch.testing.assert_close(loss, torch.tensor([1.5 * log(2)]))


def test_targets_have_the_square_of_the_probabilities():
    """T 0.5: odds of e^(2 * 0.3) squared, e^1.2 to 1."""
    labels = S2TCBDD(task()).pseudo_label(torch.tensor([[[1.0, 0.4]]]), Step(torch.arange(1)))
    torch.testing.assert_close(labels.targets[0, 0, 0], torch.tensor(exp(1.2) / (1 + exp(1.2))))


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_without_margin_balance_entropy_and_softness_it_is_fixmatch(networks):
    draw = torch.Generator().manual_seed(0)
    weak, strong = SCALE * (2 * torch.rand(2, networks, 30, 4, generator=draw) - 1)
    step = Step(torch.arange(30))
    rule = S2TCBDD(task(networks, 4), margin=0, entropy_weight=0, tau=0.5, targets="hard", momentum=1.0)
    fixmatch = FixMatch(task(networks, 4), tau=0.5)
    mine, theirs = rule.pseudo_label(weak, step), fixmatch.pseudo_label(weak, step)
    assert 0 < mine.selected.sum() < mine.selected.numel()
    for name in ("targets", "selected", "weights"):
        assert torch.equal(getattr(mine, name), getattr(theirs, name))
    ours, wanted = (r.unsupervised_loss(strong, mine, step) for r in (rule, fixmatch))
    torch.testing.assert_close(ours, wanted, atol=1e-4, rtol=1e-4)


def test_labelled_and_selected_unlabelled_texts_both_set_the_balance():
    """Angles of cosines 0.5 (labelled, class 0) and 0.5, -0.5 (unlabelled, class 1, the second not sure enough)."""
    rule = S2TCBDD(task(), momentum=0.0, tau=0.8, targets="hard")
    rule.supervised_loss(SCALE * torch.tensor([[[0.5, 0.0]]]), torch.tensor([0]), STEP)
    rule.pseudo_label(SCALE * torch.tensor([[[-0.5, 0.5], [-0.6, -0.5]]]), STEP)
    third = torch.tensor(0.5).acos()
    torch.testing.assert_close(rule.balance.moments[0, 0], torch.stack([torch.tensor(1.0), third, third**2]))
    torch.testing.assert_close(rule.balance.moments[0, 1], torch.stack([torch.tensor(1.0), third, third**2]))


def test_soft_targets_count_for_their_likeliest_class():
    """Unlabelled texts of classes 1 1 2, and a labelled mix of 0.6 of class 0 with 0.4 of class 2."""
    rule = S2TCBDD(task(classes=3), momentum=0.0)
    mixed = torch.tensor([[[0.6, 0.0, 0.4]]])
    rule.supervised_loss(torch.zeros(1, 1, 3), mixed, STEP)
    weak = SCALE * torch.tensor([[[0.1, 0.9, 0.0], [0.0, 0.5, 0.2], [-0.5, -0.2, 0.3]]])
    rule.pseudo_label(weak, Step(torch.arange(3)))
    assert rule.balance.moments[0, :, 0].tolist() == [1.0, 2.0, 1.0]


def test_labels_come_from_the_balance_as_it_was_and_losses_from_the_new_one():
    rule = S2TCBDD(task(), momentum=0.5)
    weak = SCALE * torch.tensor([[[0.9, 0.1], [0.2, 0.5], [0.3, 0.8], [0.6, 0.0]]])
    step = Step(torch.arange(4))
    first = rule.pseudo_label(weak, step).targets
    torch.testing.assert_close(first, (2 * weak).softmax(-1), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(rule.balanced(weak), weak, atol=1e-3)
    second = rule.pseudo_label(weak, step).targets
    assert not torch.allclose(second, first, atol=1e-4)


WEAK = SCALE * torch.tensor([[[0.9, 0.1], [0.2, 0.5], [0.3, 0.8], [0.6, 0.0]]])


def test_the_balance_is_set_by_the_angles_as_they_are():
    """Momentum 0: after a second batch the squares summed are its own angles', not those of the rescaled ones."""
    rule, step = S2TCBDD(task(), momentum=0.0, targets="hard"), Step(torch.arange(4))
    rule.pseudo_label(WEAK, step)
    labels = rule.pseudo_label(WEAK, step).targets[0]
    angles = (WEAK[0] / SCALE).acos().gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    assert not torch.allclose(rule.balanced(WEAK), WEAK, atol=1e-3)
    for label in (0, 1):
        torch.testing.assert_close(rule.balance.moments[0, label, 2], (angles[labels == label] ** 2).sum())


def test_the_entropy_is_that_of_the_balanced_predictions():
    step, losses = Step(torch.arange(4)), []
    for weight in (0.0, 1.0):
        rule = S2TCBDD(task(), momentum=0.0, entropy_weight=weight)
        rule.pseudo_label(WEAK, step)
        losses.append(rule.unsupervised_loss(WEAK, rule.pseudo_label(WEAK, step), step))
    torch.testing.assert_close(losses[1] - losses[0], entropy(rule.balanced(WEAK)).mean(-1))
    assert not torch.allclose(entropy(rule.balanced(WEAK)).mean(), entropy(WEAK).mean(), atol=1e-3)


def test_entropy_of_even_and_of_certain_predictions():
    """Four classes even: ln 4; all but certain: next to 0."""
    torch.testing.assert_close(entropy(torch.zeros(1, 1, 4)), torch.tensor([[log(4)]]))
    torch.testing.assert_close(entropy(torch.tensor([[[50.0, 0.0, 0.0, 0.0]]])), torch.zeros(1, 1))


def test_the_loss_does_not_depend_on_how_the_labelled_batch_is_cut():
    whole, parts = S2TCBDD(task()), S2TCBDD(task())
    given, y = SCALE * torch.tensor([[[0.9, 0.1], [0.2, 0.5], [0.3, 0.8]]]), torch.tensor([0, 1, 1])
    for rule in (whole, parts):
        rule.pseudo_label(given, Step(torch.arange(3)))
    once = whole.supervised_loss(given, y, STEP)
    cut = (parts.supervised_loss(given[:, :1], y[:1], STEP) + 2 * parts.supervised_loss(given[:, 1:], y[1:], STEP)) / 3
    torch.testing.assert_close(cut, once)
    torch.testing.assert_close(parts.balance.waiting, whole.balance.waiting)
