"""Distribution alignment: make predictions, over the pool, as balanced as its classes are."""

from __future__ import annotations

import torch
from torch import Tensor, nn

ABOVE_ZERO = 1e-6  # a class nobody predicts must not divide by zero


def align(probs: Tensor, target: Tensor, mean: Tensor) -> Tensor:
    """Multiply predictions by target over mean and normalise to sum to 1: (N, B, C) with (C,) and (N, C)."""
    shifted = probs * ((target + ABOVE_ZERO) / (mean + ABOVE_ZERO)).unsqueeze(1)
    return shifted / shifted.sum(-1, keepdim=True)


class Alignment(nn.Module):
    """Divide by each network's running mean prediction, which starts at the first batch's, and multiply by a target.

    Args:
        target: Class shares, in any unit; None for an estimate, the mean of what all networks have predicted since the
            first step. It remembers the start, so that no class can grow by its own pseudo-labels alone.
        num_classes: C.
        num_networks: N.
        momentum: Momentum of the running mean.
    """

    target: Tensor  # (C,)
    mean: Tensor  # (N, C)
    seen: Tensor  # (), number of batches

    def __init__(self, target: tuple[float, ...] | None, num_classes: int, num_networks: int, momentum: float) -> None:
        super().__init__()
        self.estimated, self.momentum = target is None, momentum
        shares = torch.tensor(target) if target else torch.ones(num_classes)
        self.register_buffer("target", shares / shares.sum())
        self.register_buffer("mean", torch.full((num_networks, num_classes), 1 / num_classes))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, probs: Tensor) -> Tensor:
        """Update with this batch (N, B, C), then align it."""
        now = probs.mean(1)
        self.mean.copy_(torch.where(self.seen == 0, now, self.mean.lerp(now, 1 - self.momentum)))
        self.seen += 1
        if self.estimated:
            self.target += (now.mean(0) - self.target) / self.seen
        return align(probs, self.target, self.mean)
