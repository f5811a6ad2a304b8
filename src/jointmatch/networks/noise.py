"""What heads drop while training, as factors drawn before the forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from jointmatch.networks.stacked.dropout import Masks
from jointmatch.randomness import seeded


@dataclass(frozen=True)
class Rates:
    """How much is dropped of (B, D) features and of a hidden layer of the same width."""

    dropout: float
    cutoff: float = 0.0


@dataclass(frozen=True)
class Noise:
    """Factors (B, D), or (n, B, D) for n heads, for the features and for the hidden layer; None leaves them alone."""

    features: Tensor | None = None
    hidden: Tensor | None = None

    def of(self, head: int) -> Noise:
        """The noise of one head."""
        return Noise(*(None if x is None else x[head] for x in (self.features, self.hidden)))


def drawn_noise(rates: Rates, size: Sequence[int], seed: int, device: torch.device, hidden: bool) -> Noise:
    """One head's noise for ``size`` (B, D), the very numbers a ``Head`` by itself draws from torch's stream."""
    ones = torch.ones(*size, device=device)
    with seeded(seed, device):
        kept = (torch.rand(*size, device=device) >= rates.cutoff).float() if rates.cutoff else ones
        return Noise(F.dropout(kept, rates.dropout), F.dropout(ones, rates.dropout) if hidden else None)


def hashed_noise(rates: Rates, size: Sequence[int], words: Tensor) -> Noise:
    """Every head's noise for ``size`` (B, D), a function of (seed, text, dimension): more texts only add to it.

    ``words`` are the heads' ``seed_words``.
    """
    texts, width = size
    rows = [torch.arange(texts, device=words.device)[None]]
    features = hidden = None
    if rates.dropout:
        masks = Masks(words, 3, 2, rows, width, rates.dropout)
        scale = 0.0 if rates.dropout == 1 else 1 / (1 - rates.dropout)
        features, hidden = (~masks.at(place).hit() * scale for place in (0, 1))
    if rates.cutoff:
        kept = ~Masks(words, 4, 1, rows, width, rates.cutoff).at(0).hit()
        features = kept.float() if features is None else features * kept
    return Noise(features, hidden)
