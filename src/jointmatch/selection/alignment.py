"""Pull predictions towards a class balance that is wanted."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def align(probs: Tensor, class_mean: Tensor) -> Tensor:
    """Divide (N, B, C) by the class mean (N, C) and make it sum to 1 again: what is predicted often counts less."""
    scaled = probs / (class_mean.unsqueeze(1) + 1e-6)
    return scaled / scaled.sum(-1, keepdim=True)


class UniformAlignment(nn.Module):
    """Align with equally frequent classes.

    Args:
        num_classes: C.
        num_networks: N; each has its own class mean.
        momentum: m, in p <- m p + (1 - m) mean of the batch; p starts at the first batch's mean.
    """

    class_mean: Tensor  # (N, C)
    begun: Tensor  # ()

    def __init__(self, num_classes: int, num_networks: int, momentum: float) -> None:
        super().__init__()
        self.momentum = momentum
        self.register_buffer("class_mean", torch.full((num_networks, num_classes), 1 / num_classes))
        self.register_buffer("begun", torch.zeros((), dtype=torch.bool))

    def forward(self, probs: Tensor) -> Tensor:
        """Update the class mean with this batch, then align it: (N, B, C) -> (N, B, C)."""
        mean = probs.mean(1)
        self.class_mean.copy_(torch.where(self.begun, self.class_mean.lerp(mean, 1 - self.momentum), mean))
        self.begun.fill_(True)
        return align(probs, self.class_mean)
