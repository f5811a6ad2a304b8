"""The quick optimiser takes torch's own steps."""

import copy

import pytest
import torch
from torch import nn

from jointmatch.training.adamw import QuickAdamW


def pair(fused: bool = True, **settings):
    """A module and groups with settings of their own, under torch's optimiser and under ours."""
    torch.manual_seed(0)
    first = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    found = []
    for kind, module in ((torch.optim.AdamW, first), (QuickAdamW, copy.deepcopy(first))):
        layers = [
            {"params": list(layer.parameters()), "weight_decay": d} for layer, d in zip(module, (0.1, 0), strict=True)
        ]
        found.append((module, kind(layers, lr=0.01, eps=1e-6, fused=fused, **settings)))
    return found


def train(pair, steps, only_first=False):
    module, optimizer = pair
    for step in steps:
        torch.manual_seed(step)
        optimizer.zero_grad()
        hidden = module[0](torch.randn(5, 3))
        (hidden if only_first else module[1](hidden)).square().sum().backward()
        for group in optimizer.param_groups:
            group["lr"] = 0.01 / (1 + step)
        optimizer.step()


def assert_same(one, other):
    for (module, optimizer), (theirs, their_optimizer) in [(one, other)]:
        for p, q in zip(module.parameters(), theirs.parameters(), strict=True):
            assert torch.equal(p, q)
        states = [list(o.state_dict()["state"].values()) for o in (optimizer, their_optimizer)]
        for own, wanted in zip(*states, strict=True):
            assert own.keys() == wanted.keys()
            assert all(torch.equal(own[name], wanted[name]) for name in own)


@pytest.mark.parametrize("fused", [True, False])
def test_the_same_steps_to_the_last_bit(fused):
    theirs, ours = pair(fused)
    for own in (theirs, ours):
        train(own, range(5))
    assert_same(ours, theirs)
    assert (ours[1]._kept is not None) is fused


def test_a_parameter_without_a_gradient_is_left_alone():
    theirs, ours = pair()
    for own in (theirs, ours):
        train(own, range(2), only_first=True)
        train(own, range(2, 5))
        train(own, range(5, 7), only_first=True)
        train(own, range(7, 9))
    assert_same(ours, theirs)


def test_after_a_state_was_loaded_or_cleared_it_goes_on_from_there():
    theirs, ours = pair()
    for module, optimizer in (theirs, ours):
        train((module, optimizer), range(3))
        kept = copy.deepcopy(optimizer.state_dict())
        train((module, optimizer), range(3, 6))
        optimizer.load_state_dict(kept)
        train((module, optimizer), range(6, 9))
        optimizer.state.clear()
        train((module, optimizer), range(9, 12))
    assert_same(ours, theirs)


def test_gradients_are_forgotten_or_set_to_zero():
    module, optimizer = pair()[1]
    train((module, optimizer), range(2))
    optimizer.zero_grad(set_to_none=False)
    assert all(p.grad is not None and not p.grad.any() for p in module.parameters())
    optimizer.zero_grad()
    assert all(p.grad is None for p in module.parameters())


@pytest.mark.parametrize("settings", [{"amsgrad": True}, {"maximize": True}])
def test_what_the_quick_way_does_not_know_is_left_to_torch(settings):
    theirs, ours = pair(**settings)
    for own in (theirs, ours):
        train(own, range(5))
    assert_same(ours, theirs)


def test_more_parameters_a_copy_and_one_state_forgotten():
    theirs, ours = pair()
    for own in (theirs, ours):
        train(own, range(3))
        own[1].add_param_group({"params": [nn.Parameter(torch.ones(2))]})
        train(own, range(3, 5))
    assert_same(ours, theirs)
    for module, optimizer in (theirs, ours):
        del optimizer.state[module[0].weight]
        train((module, optimizer), range(5, 7))
    assert_same(ours, theirs)
    copied = copy.deepcopy(ours)
    train(copied, range(7, 9))
    train(theirs, range(7, 9))
    assert_same(copied, theirs)
