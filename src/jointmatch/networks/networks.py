"""N networks: encoders (one shared and frozen, or one each) and a head each."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from jointmatch.networks.encoder import Encoder
from jointmatch.networks.heads import Heads
from jointmatch.networks.tokens import Tokens
from jointmatch.randomness import seeded
from jointmatch.types import Mixing


class Networks(nn.Module):
    """Tokens to logits (N, B, C).

    With one encoder, it reads a layer for every head and is not trained (mode lite);
    with N of them, each is trained with its head (mode full).
    """

    def __init__(self, encoders: Sequence[Encoder], heads: Heads) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(encoders)
        self.heads = heads

    def features(
        self,
        tokens: Tokens | Sequence[Tokens],
        seeds: Sequence[int] | None = None,
        mixing: Mixing | None = None,
    ) -> Tensor:
        """(N, B, D) from one batch for all networks, or from one each."""
        batches = [tokens] * len(self.encoders) if isinstance(tokens, Tokens) else list(tokens)
        mixed = [None if mixing is None else mixing.of(i) for i in range(len(self.encoders))]
        each = zip(self.encoders, batches, mixed, strict=True)
        if not self.training or seeds is None:
            return torch.cat([encoder(own, how) for encoder, own, how in each])
        parts = []
        for (encoder, own, how), seed in zip(each, seeds, strict=True):
            with seeded(seed, own.ids.device):
                parts.append(encoder(own, how))
        return torch.cat(parts)

    def forward(
        self,
        tokens: Tokens | Sequence[Tokens],
        seeds: Sequence[int] | None = None,
        mixing: Mixing | None = None,
    ) -> Tensor:
        """(N, B, C); with ``mixing``, of texts whose hidden states are mixed inside the encoders."""
        own_seeds = None if seeds is None else [seed + 1 for seed in seeds]
        features = self.features(tokens, seeds, mixing)
        # Heads stay in fp32 under autocast: bf16 has eight bits, too few for logits near a threshold.
        with torch.autocast(features.device.type, enabled=False):
            return self.heads(features.float(), own_seeds)
