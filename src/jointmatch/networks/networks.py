"""N networks: encoders (one shared, or one each) and a head each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import torch
from torch import Tensor, nn

from jointmatch.networks.encoder import Encoder
from jointmatch.networks.heads import Heads
from jointmatch.networks.tokens import Tokens
from jointmatch.randomness import seeded
from jointmatch.types import Mixing


class Networks(nn.Module):
    """Tokens to logits (N, B, C).

    One encoder reads a layer for every head: frozen in mode lite, trained in mode full by methods of several heads.
    Otherwise there are N of them, each trained with its head.
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
        shared = len(self.encoders) < len(batches)  # one encoder, and a batch for each head
        parts = []
        for i, own in enumerate(batches):
            dropout = seeded(seeds[i], own.ids.device) if self.training and seeds is not None else nullcontext()
            with dropout:
                read = self.encoders[0 if shared else i](own, None if mixing is None else mixing.of(i))
            parts.append(read[i : i + 1] if shared else read)
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
