"""JointMatch's parts on top of other methods' thresholds and weights."""

import pytest
import torch

from jointmatch.algorithms import build
from jointmatch.selection import label_disagreement
from jointmatch.types import Step, Task

METHODS = {
    "fixmatch": {"tau": 0.8},
    "flexmatch": {"tau": 0.8, "warm_up": False},
    "freematch": {"momentum": 0.5, "fairness_weight": 0.5},
    "softmatch": {"momentum": 0.5},
    "uda": {"beta": 0.8},
    "pseudolabel": {"tau": 0.8},
}
every_method = pytest.mark.parametrize("name", sorted(METHODS))


def made(name, networks=2, **settings):
    return build(name, Task(4, networks, pool_size=60), METHODS[name] | settings)


def third_step(rule, networks=2):
    """Labels, strong logits and step after two batches have left their mark."""
    draw = torch.Generator().manual_seed(0)
    for number in range(3):
        weak, strong = 2 * torch.randn(2, networks, 30, 4, generator=draw)
        step = Step(torch.randperm(60, generator=draw)[:30], number, 4)
        labels = rule.pseudo_label(weak, step)
    return weak, labels, strong, step


@every_method
def test_crossed_each_network_is_taught_what_the_other_would_have_taught_itself(name):
    _, own, *_ = third_step(made(name))
    _, crossed, strong, step = third_step(rule := made(name, labelling="cross"))
    for field in ("targets", "selected", "weights"):
        assert torch.equal(getattr(crossed, field), getattr(own, field).flip(0))
    assert rule.unsupervised_loss(strong, crossed, step).isfinite().all()


@every_method
def test_of_two_networks_the_others_are_the_other(name):
    _, crossed, *_ = third_step(made(name, labelling="cross"))
    _, others, *_ = third_step(made(name, labelling="others"))
    for field in ("targets", "selected", "weights"):
        torch.testing.assert_close(getattr(others, field), getattr(crossed, field))


@every_method
@pytest.mark.parametrize("networks", [2, 3])
def test_disagreement_weighs_on_top_of_the_method_s_own_weight(name, networks):
    _, plain, *_ = third_step(made(name, networks, labelling="cross"), networks)
    weak, weighted, *_ = third_step(
        made(name, networks, labelling="cross", weighting="disagreement", delta=0.75), networks
    )
    factor = label_disagreement(weak.argmax(-1), 0.75)
    assert set(factor.unique().tolist()) == {0.25, 0.75}
    torch.testing.assert_close(weighted.weights, factor * plain.weights)
    assert torch.equal(weighted.selected, plain.selected)


def test_crossed_fairness_holds_a_network_to_its_teacher_s_running_means():
    rule, alone = made("freematch", labelling="cross", unlabeled_weight=0.0), made("freematch", unlabeled_weight=0.0)
    _, crossed, strong, step = third_step(rule)
    _, own, *_ = third_step(alone)
    assert not torch.equal(rule.threshold.class_mean[0], rule.threshold.class_mean[1])
    torch.testing.assert_close(
        rule.unsupervised_loss(strong, crossed, step), alone.unsupervised_loss(strong.flip(0), own, step).flip(0)
    )
