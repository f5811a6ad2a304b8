"""Rules that turn probabilities (N, B, C) into a mask (N, B). State lives in buffers."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn


def class_thresholds(class_mean: Tensor, tau: float, adaptivity: float = 1.0) -> Tensor:
    """tau(c) = tau * (p(c) / max_c p(c)) ** adaptivity along the last axis.

    1 is the paper's equation 2, 0 one threshold for all classes. In between, a class that is merely rare in
    the pool keeps most of its threshold.
    """
    return tau * (class_mean / class_mean.amax(-1, keepdim=True)) ** adaptivity


def confident(probs: Tensor, thresholds: Tensor) -> Tensor:
    """Whether the top probability reaches its class's threshold: (N, B, C), (N, C) -> (N, B)."""
    confidence, label = probs.max(-1)
    return confidence >= thresholds.gather(-1, label)


class FixedThreshold(nn.Module):
    """Keep a text when its top probability reaches ``tau``, whatever its class."""

    def __init__(self, tau: float, num_classes: int, num_networks: int) -> None:
        super().__init__()
        self.tau, self.shape = tau, (num_networks, num_classes)

    def forward(self, probs: Tensor) -> Tensor:
        """(N, B, C) -> (N, B)."""
        return probs.amax(-1) >= self.tau

    def current(self) -> Tensor:
        """The thresholds in force (N, C)."""
        return torch.full(self.shape, self.tau)


class AdaptiveThreshold(nn.Module):
    """Lower ``tau`` for the classes a network is not yet sure of.

    The learning status of a class is the running mean of its predicted probability,
    ``p <- momentum * p + (1 - momentum) * mean(q)``, starting at 1/C (equation 1).

    Args:
        tau: Threshold of the class learnt best.
        momentum: The paper's lambda.
        class_mean: ``own``: one running mean per network, as in the paper;
            ``shared``: one for all, updated by each network in turn, as in the authors' code.
        adaptivity: How far the thresholds follow the running means, from 0 (not at all) to 1 (the paper).
    """

    class_mean: Tensor  # (N, C); a shared mean is kept as N equal rows

    def __init__(
        self,
        tau: float,
        num_classes: int,
        num_networks: int,
        momentum: float,
        class_mean: Literal["own", "shared"] = "own",
        adaptivity: float = 1.0,
    ) -> None:
        super().__init__()
        self.tau, self.momentum, self.shared = tau, momentum, class_mean == "shared"
        self.adaptivity = adaptivity
        self.register_buffer("class_mean", torch.full((num_networks, num_classes), 1 / num_classes))

    def forward(self, probs: Tensor) -> Tensor:
        """Update the running means with this batch (N, B, C), then compare: -> (N, B)."""
        if self.shared:
            return self._in_turn(probs)
        self.class_mean.lerp_(probs.mean(1), 1 - self.momentum)
        return confident(probs, self.current())

    def _in_turn(self, probs: Tensor) -> Tensor:
        masks = []
        for own in probs.split(1):  # each network sees the mean as the ones before it left it
            self.class_mean.lerp_(own.mean(1).expand_as(self.class_mean), 1 - self.momentum)
            masks.append(confident(own, self.current()[:1]))
        return torch.cat(masks)

    def current(self) -> Tensor:
        """The thresholds in force (N, C)."""
        return class_thresholds(self.class_mean, self.tau, self.adaptivity)
