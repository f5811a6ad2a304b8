"""A running average of a module's weights, steadier than the weights themselves."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

SHARE = 8  # an average remembers an eighth of the training at most


def decay_within(steps: int, decay: float) -> float:
    """A decay for so many steps: the one asked for, or a smaller one if most of the average would be its start.

    A constant decay remembers about 1 / (1 - decay) steps.
    """
    return min(decay, max(0.0, 1 - SHARE / steps))


class Averaged:
    """Keeps ``average <- decay * average + (1 - decay) * weights`` in a copy of the module.

    Args:
        module: The module whose weights are averaged.
        decay: How much of the average is left at each step.
        warmup: Lower the decay to (1 + t) / (10 + t) early on, so that the start is soon forgotten. Not for a start
            that is better than the first steps from it.
    """

    def __init__(self, module: nn.Module, decay: float, warmup: bool = True) -> None:
        self.decay, self.warmup = decay, warmup
        self.module = copy.deepcopy(module).eval().requires_grad_(False)
        self._pairs: tuple[nn.Module | None, list[Tensor], list[Tensor]] = (None, [], [])

    @torch.no_grad()
    def update(self, module: nn.Module, step: int) -> None:
        """Move towards the weights after ``step`` steps."""
        decay = min(self.decay, (1 + step) / (10 + step)) if self.warmup else self.decay
        if self._pairs[0] is not module:  # collected once: this takes longer than the averaging
            pairs = [p for p in zip(self.module.parameters(), module.parameters(), strict=True) if p[1].requires_grad]
            self._pairs = (
                module,
                [own for own, _ in pairs],
                [p for _, p in pairs],
            )  # not detached: their memory may move
        get_ema_multi_avg_fn(decay)(*self._pairs[1:], step)
