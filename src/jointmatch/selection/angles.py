"""Angles between texts and class vectors, made equally spread in every class. N networks, B texts, C classes."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

TINY = 1e-12
NEARLY = 1 - 1e-6  # the angle's slope is infinite at a cosine of one


def angles_of(cosines: Tensor) -> Tensor:
    """Convert cosines to angles in radians, kept short of 0 and pi."""
    return cosines.clamp(-NEARLY, NEARLY).acos()


class AngleBalance(nn.Module):
    """Track moving averages of each class's mean angle and variance, and rescale angles by them.

    The averages are of the number of texts, their angles and the squared angles, so a class missing from a batch merely
    weighs less. Each class's variance includes one extra text with the mean variance of all classes, since a class seen
    once would otherwise have none. A class never seen has the mean angle of all.
    """

    moments: Tensor  # (N, C, 3) number, sum of angles, sum of squared angles
    waiting: Tensor  # (N, C, 3) the same for texts seen since the last update

    def __init__(self, num_classes: int, num_networks: int, momentum: float) -> None:
        super().__init__()
        self.momentum = momentum
        for name in ("moments", "waiting"):
            self.register_buffer(name, torch.zeros(num_networks, num_classes, 3))

    @torch.no_grad()
    def see(self, angles: Tensor, labels: Tensor, counts: Tensor) -> None:
        """Record each text's angle (N, B, C) to its label's vector (N, B), as often as ``counts`` (N, B)."""
        own = angles.gather(-1, labels.unsqueeze(-1))
        powers = torch.cat([torch.ones_like(own), own, own**2], -1) * counts.unsqueeze(-1)
        self.waiting.scatter_add_(1, labels.unsqueeze(-1).expand_as(powers), powers)

    @torch.no_grad()
    def update(self) -> None:
        """Move the averages by what was recorded."""
        self.moments.lerp_(self.waiting, 1 - self.momentum)
        self.waiting.zero_()

    def statistics(self) -> tuple[Tensor, Tensor]:
        """Mean and variance of each class's angles: (N, C) each."""
        number, total, squares = self.moments.unbind(-1)
        every = self.moments.sum(1).clamp(min=TINY)  # (N, 3)
        mean = torch.where(number > 0, total / number, (every[:, 1] / every[:, 0]).unsqueeze(-1))
        spread = (squares - number * mean**2).clamp(min=0)  # (N, C) sum of squared deviations
        common = (spread.sum(-1, keepdim=True) / every[:, :1]).clamp(min=1e-6)
        return mean, (spread + common) / (number + 1)

    def forward(self, angles: Tensor) -> Tensor:
        """psi_k = mean_k + sqrt(mean of all variances / variance_k) (angle - mean_k), within 0 and pi: (N, B, C)."""
        mean, variance = (x.unsqueeze(1) for x in self.statistics())
        ratio = (variance.mean(-1, keepdim=True) / variance).sqrt()
        return (mean + ratio * (angles - mean)).clamp(0, math.pi)
