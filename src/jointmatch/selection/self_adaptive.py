"""FreeMatch's thresholds: one that follows the confidence reached, scaled for each class."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from jointmatch.selection.thresholds import class_thresholds, confident
from jointmatch.types import Step


class SelfAdaptiveThreshold(nn.Module):
    """tau(c) = t * P(c) / max_c P(c); every batch updates the means before it is judged.

    Args:
        num_classes: C.
        num_networks: N; each has its own running means.
        momentum: m, momentum of the three running means, in s <- m s + (1 - m) s of the batch.
    """

    adaptive = True
    confidence: Tensor  # (N,), t: the running mean of the top probability
    class_mean: Tensor  # (N, C), P: the running mean of the probabilities
    label_share: Tensor  # (N, C), h: the running share of each predicted label

    def __init__(self, num_classes: int, num_networks: int, momentum: float) -> None:
        super().__init__()
        self.momentum = momentum
        self.register_buffer("confidence", torch.full((num_networks,), 1 / num_classes))
        self.register_buffer("class_mean", torch.full((num_networks, num_classes), 1 / num_classes))
        self.register_buffer("label_share", self.class_mean.clone())

    def forward(self, probs: Tensor, step: Step | None = None) -> Tensor:
        """Update the running means with this batch (N, B, C), then compare: -> (N, B)."""
        confidence, label = probs.max(-1)
        share = F.one_hot(label, probs.shape[-1]).to(probs.dtype).mean(1)
        self.confidence.lerp_(confidence.mean(1), 1 - self.momentum)
        self.class_mean.lerp_(probs.mean(1), 1 - self.momentum)
        self.label_share.lerp_(share, 1 - self.momentum)
        return confident(probs, self.current())

    def current(self) -> Tensor:
        """The thresholds in force (N, C)."""
        return class_thresholds(self.class_mean, self.confidence.unsqueeze(-1))
