"""A memory of confident texts from which equally many of each class are drawn."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Bank(nn.Module):
    """The latest ``size`` texts of each class, first in, first out. A text may be in it twice.

    Args:
        num_classes: C.
        size: Number of texts kept per class.
    """

    texts: Tensor  # (C, size) positions in the pool, the latest first
    filled: Tensor  # (C,) number of texts held

    def __init__(self, num_classes: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("texts", torch.zeros(num_classes, size, dtype=torch.long))
        self.register_buffer("filled", torch.zeros(num_classes, dtype=torch.long))

    def add(self, texts: Tensor, labels: Tensor, kept: Tensor) -> None:
        """Put those of the texts (B,) that are ``kept`` in front of their classes, in the order given."""
        classes = torch.arange(len(self.texts), device=self.texts.device).unsqueeze(-1)
        new = kept & (labels == classes)  # (C, B)
        old = torch.arange(self.size, device=self.texts.device) < self.filled.unsqueeze(-1)  # (C, size)
        there = torch.cat([new, old], dim=1)
        candidates = torch.cat([texts.expand(len(self.texts), -1), self.texts], dim=1)
        first = there.long().argsort(dim=1, descending=True, stable=True)[:, : self.size]
        self.texts.copy_(candidates.gather(1, first))
        self.filled.copy_(there.sum(1).clamp(max=self.size))

    def draw(self, count: int, seed: int) -> Tensor:
        """Draw ``count`` different entries per class, all of which must have as many: (C * count,), class by class."""
        chance = torch.rand(self.texts.shape, generator=torch.Generator().manual_seed(seed)).to(self.texts.device)
        empty = torch.arange(self.size, device=self.texts.device) >= self.filled.unsqueeze(-1)
        places = chance.masked_fill(empty, -1).topk(count, dim=1).indices
        return self.texts.gather(1, places).flatten()
