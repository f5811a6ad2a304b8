"""SoftMatch's weights: a text counts less the further its confidence lies below the running mean."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def truncated_gaussian(confidence: Tensor, mean: Tensor, variance: Tensor, sigmas: float) -> Tensor:
    """exp(-min(x - mean, 0)^2 / (2 variance / sigmas^2)): 1 from the mean upwards, whatever the variance."""
    below = (confidence - mean).clamp(max=0)
    return torch.exp(-(below**2) / (2 * variance.clamp(min=1e-12) / sigmas**2))


class GaussianWeight(nn.Module):
    """Weight each text by its top probability; every batch updates the statistics before it is weighted.

    Args:
        num_classes: C; the running mean starts at 1 / C, the variance at 1.
        num_networks: N; each has its own.
        momentum: m, of the running mean and variance, in s <- m s + (1 - m) s of the batch.
        sigmas: n; the running deviation is divided by it.
    """

    mean: Tensor  # (N,)
    variance: Tensor  # (N,)

    def __init__(self, num_classes: int, num_networks: int, momentum: float, sigmas: float) -> None:
        super().__init__()
        self.momentum, self.sigmas = momentum, sigmas
        self.register_buffer("mean", torch.full((num_networks,), 1 / num_classes))
        self.register_buffer("variance", torch.ones(num_networks))

    def forward(self, probs: Tensor) -> Tensor:
        """(N, B, C) -> (N, B)."""
        confidence = probs.amax(-1)
        unbiased = min(1, confidence.shape[1] - 1)  # a single text has variance 0, not NaN
        self.mean.lerp_(confidence.mean(1), 1 - self.momentum)
        self.variance.lerp_(confidence.var(1, correction=unbiased), 1 - self.momentum)
        return truncated_gaussian(confidence, self.mean.unsqueeze(1), self.variance.unsqueeze(1), self.sigmas)
