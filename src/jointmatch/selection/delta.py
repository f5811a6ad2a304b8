"""The weight of disagreement, fixed or changing over training."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from jointmatch.types import Step

DeltaRule = Literal["constant", "time", "confidence", "disagreement"]


def eased(delta: float, done: float | Tensor) -> float | Tensor:
    """Interpolate linearly from delta at ``done`` 0 to one half, where all texts count alike, at ``done`` 1."""
    return delta + (0.5 - delta) * done


class Delta(nn.Module):
    """delta at each step; texts agreed on get 1 - delta.

    Most texts are agreed on, so the main effect of a high delta is to make the unlabelled loss small. That protects a
    cold start and slows a warm one. The rules begin at the given delta and move away from it:

    - ``time``: linearly, to one half at the last step;
    - ``confidence``: along the same line, by how sure the networks are: delta where the running mean of their top
      probability is 1/C, one half where it is 1;
    - ``disagreement``: 1 - d, where d is the running share of texts disagreed on. All these together then count as much
      as all the others together: d (1 - d) either way.

    Args:
        delta: The constant or initial value.
        rule: What changes it; nothing for ``constant``.
        num_classes: C.
        momentum: Momentum of the running mean.
    """

    running: Tensor  # () mean confidence, or share of texts disagreed on

    def __init__(self, delta: float, rule: DeltaRule, num_classes: int, momentum: float = 0.9) -> None:
        super().__init__()
        self.delta, self.rule, self.momentum, self.num_classes = delta, rule, momentum, num_classes
        self.register_buffer("running", torch.tensor(1 - delta if rule == "disagreement" else 1 / num_classes))

    def forward(self, differ: Tensor, probs: Tensor, step: Step) -> float | Tensor:
        """Update from where networks differ (N, B) and what they predict (N, B, C), then return delta."""
        if self.rule == "time":
            return eased(self.delta, step.progress)
        if self.rule == "confidence":
            chance = 1 / self.num_classes
            return eased(self.delta, (self._follow(probs.amax(-1)) - chance) / (1 - chance))
        return 1 - self._follow(differ.float()) if self.rule == "disagreement" else self.delta

    def _follow(self, values: Tensor) -> Tensor:
        return self.running.lerp_(values.mean(), 1 - self.momentum)
