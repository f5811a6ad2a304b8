"""Rules that turn probabilities (N, B, C) and a step into a mask (N, B). State lives in buffers."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from jointmatch.types import Step


def class_thresholds(status: Tensor, tau: float | Tensor, adaptivity: float = 1.0) -> Tensor:
    """tau(c) = tau * (s(c) / max_c s(c)) ** adaptivity along the last axis.

    With the class mean p(c) as status s(c), adaptivity 1 is the paper's equation 2; 0 is one threshold for all classes.
    """
    return tau * (status / status.amax(-1, keepdim=True)) ** adaptivity


def one_more_of_each(mean: Tensor, texts: int) -> Tensor:
    """The class mean (N, C) over ``texts``, as if one more text of each class had been seen: never zero."""
    return (texts * mean + 1) / (texts + mean.shape[-1])


def confident(probs: Tensor, thresholds: Tensor) -> Tensor:
    """Whether the top probability reaches its class's threshold: (N, B, C), (N, C) -> (N, B)."""
    confidence, label = probs.max(-1)
    return confidence >= thresholds.gather(-1, label)


class FixedThreshold(nn.Module):
    """Keep a text when its top probability, for whatever class, reaches ``tau``, or exceeds it if ``strict``."""

    adaptive = False

    def __init__(self, tau: float, num_classes: int, num_networks: int, strict: bool = False) -> None:
        super().__init__()
        self.tau, self.shape, self.strict = tau, (num_networks, num_classes), strict

    def forward(self, probs: Tensor, step: Step | None = None) -> Tensor:
        """(N, B, C) -> (N, B)."""
        confidence = probs.amax(-1)
        return confidence > self.tau if self.strict else confidence >= self.tau

    def current(self) -> Tensor:
        """The thresholds in force (N, C)."""
        return torch.full(self.shape, self.tau)


class AdaptiveThreshold(nn.Module):
    """Lower ``tau`` for the classes a network is not yet sure of.

    The learning status of a class is the running mean of its predicted probability,
    ``p <- momentum * p + (1 - momentum) * mean(q)``, starting at 1/C (equation 1). Where classes are not equally
    frequent, that mean is also low for rare ones, however well they are learnt, and lowering their thresholds fills
    them with other classes' texts; ``reference`` "start" divides by the first batch's mean instead.

    Args:
        tau: Threshold of the class learnt best.
        momentum: The paper's lambda.
        class_mean: ``own``: one running mean per network, as in the paper;
            ``shared``: one for all, updated by each network in turn, as in the authors' code.
        adaptivity: How far the thresholds follow the running means, from 0 (not at all) to 1 (the paper).
        reference: Divisor of the running mean: ``uniform``: the same for every class, as in the paper;
            ``start``: the first batch's mean, which is then the running mean's initial value as well.
    """

    adaptive = True
    class_mean: Tensor  # (N, C); a shared mean is kept as N equal rows
    reference: Tensor  # (N, C)
    begun: Tensor  # ()

    def __init__(
        self,
        tau: float,
        num_classes: int,
        num_networks: int,
        momentum: float,
        class_mean: Literal["own", "shared"] = "own",
        adaptivity: float = 1.0,
        reference: Literal["uniform", "start"] = "uniform",
    ) -> None:
        super().__init__()
        self.tau, self.momentum, self.shared = tau, momentum, class_mean == "shared"
        self.adaptivity, self.from_start = adaptivity, reference == "start"
        self.register_buffer("class_mean", torch.full((num_networks, num_classes), 1 / num_classes))
        self.register_buffer("reference", self.class_mean.clone())
        self.register_buffer("begun", torch.zeros((), dtype=torch.bool))

    def forward(self, probs: Tensor, step: Step | None = None) -> Tensor:
        """Update the running means with this batch (N, B, C), then compare: -> (N, B)."""
        if self.from_start:
            self._begin(probs)
        if self.shared:
            return self._in_turn(probs)
        self.class_mean.lerp_(probs.mean(1), 1 - self.momentum)
        return confident(probs, self.current())

    def _begin(self, probs: Tensor) -> None:
        """Take the first batch's mean as reference, without asking the device whether it is the first."""
        mean = probs.mean((0, 1)).expand_as(self.class_mean) if self.shared else probs.mean(1)
        first = one_more_of_each(mean, probs.shape[1])
        for buffer in (self.reference, self.class_mean):
            buffer.copy_(torch.where(self.begun, buffer, first))
        self.begun.fill_(True)

    def _in_turn(self, probs: Tensor) -> Tensor:
        masks = []
        for own in probs.split(1):  # each network sees the mean as the previous ones left it
            self.class_mean.lerp_(own.mean(1).expand_as(self.class_mean), 1 - self.momentum)
            masks.append(confident(own, self.current()[:1]))
        return torch.cat(masks)

    def current(self) -> Tensor:
        """The thresholds in force (N, C)."""
        return class_thresholds(self.class_mean / self.reference, self.tau, self.adaptivity)
