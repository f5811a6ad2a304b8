"""A running average of a module's weights, steadier than the weights themselves."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.optim.swa_utils import get_ema_multi_avg_fn


class Averaged:
    """Keeps ``average <- decay * average + (1 - decay) * weights`` in a copy of the module.

    Early on the decay is lowered to (1 + t) / (10 + t), so that the start is soon forgotten.
    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        self.module = copy.deepcopy(module).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, module: nn.Module, step: int) -> None:
        """Move towards the weights after ``step`` steps."""
        decay = min(self.decay, (1 + step) / (10 + step))
        averaged = [p.detach() for p in self.module.parameters()]
        current = [p.detach() for p in module.parameters()]
        get_ema_multi_avg_fn(decay)(averaged, current, step)
