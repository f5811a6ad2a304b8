"""N networks: encoders (one shared and frozen, or one each) and a head each."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from jointmatch.networks.encoder import Encoder
from jointmatch.networks.heads import Heads
from jointmatch.networks.tokens import Tokens
from jointmatch.randomness import seeded


class Networks(nn.Module):
    """Tokens to logits (N, B, C).

    With one encoder, it reads a layer for every head and is not trained (mode lite);
    with N of them, each is trained with its head (mode full).
    """

    def __init__(self, encoders: Sequence[Encoder], heads: Heads) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(encoders)
        self.heads = heads

    def features(self, tokens: Tokens, seeds: Sequence[int] | None = None) -> Tensor:
        """(N, B, D)."""
        if not self.training or seeds is None:
            return torch.cat([encoder(tokens) for encoder in self.encoders])
        parts = []
        for encoder, seed in zip(self.encoders, seeds, strict=True):
            with seeded(seed, tokens.ids.device):
                parts.append(encoder(tokens))
        return torch.cat(parts)

    def forward(self, tokens: Tokens, seeds: Sequence[int] | None = None) -> Tensor:
        """(N, B, C)."""
        with_heads = None if seeds is None else [seed + 1 for seed in seeds]
        return self.heads(self.features(tokens, seeds), with_heads)
