"""A stand-in for CUDA graphs on a CPU, and passes of a stack to compare."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from jointmatch.networks import dropout_seeds
from jointmatch.networks.stacked import Stacked, StackedEncoders, encoders, replay
from jointmatch.networks.stacked.replay import Recording
from tests.unit.networks.stacked.berts import batch, bert


class Rerun(Recording):
    """Computes again, from and into the same tensors, where a CUDA graph would."""

    made = 0

    def __init__(self, function, inputs, parameters):
        type(self).made += 1
        self.inputs = [x.clone() for x in inputs]
        self.parameters = [p for p in parameters if p.requires_grad]
        self.anchor = torch.zeros((), requires_grad=True)
        first = function(*self.inputs)
        self.output, self.grad = first.detach().clone(), torch.zeros_like(first)
        gradients = [torch.empty_like(p) for p in self.parameters]
        self.gradients = gradients
        live = {}

        def forward():
            with torch.set_grad_enabled(bool(self.parameters)):
                live["out"] = function(*self.inputs)
            self.output.copy_(live["out"].detach())

        def backward():
            for own, new in zip(gradients, self._backward_of(live["out"], self.grad), strict=True):
                assert new is not None
                assert new.stride() == own.stride()
                own.copy_(new)

        self.forward_graph: Any = SimpleNamespace(replay=forward)
        self.backward_graph: Any = SimpleNamespace(replay=backward)


@pytest.fixture
def recorded(monkeypatch):
    """Passes are recorded on this CPU."""
    monkeypatch.setattr(replay, "Recording", Rerun)
    monkeypatch.setattr(encoders, "RECORDED_ON", {"cpu"})
    monkeypatch.setattr(Rerun, "made", 0)


def stacked(replayed: bool = True, layers=(1.0, 0.5)) -> StackedEncoders:
    found = StackedEncoders(Stacked.from_modules([bert(i) for i in range(2)], [[share] for share in layers])).train()
    if not replayed:
        found.replay = None
    return found


def passed(networks: StackedEncoders, number: int, tokens=None):
    """Features and gradients of one pass."""
    networks.zero_grad()
    features = networks.features(tokens or batch(number), dropout_seeds(0, 2, number))
    features.square().sum().backward()
    return features.detach(), [torch.clone(p.grad) for p in networks.parameters() if p.grad is not None]


def assert_same(one, other):
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
