"""The encoders of N networks as separate modules: one each, or one that all heads read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import torch
from torch import Tensor, nn

from jointmatch.networks.tokens import Tokens
from jointmatch.randomness import seeded
from jointmatch.types import Mixing


class SeparateEncoders(nn.ModuleList):
    """A list of encoders, used as one."""

    def features(
        self, tokens: Tokens | Sequence[Tokens], seeds: Sequence[int] | None = None, mixing: Mixing | None = None
    ) -> Tensor:
        """Features (N, B, D) from one batch for all networks, or from one each."""
        batches = [tokens] * len(self) if isinstance(tokens, Tokens) else list(tokens)
        shared = len(self) < len(batches)  # one encoder, and a batch for each head
        parts = []
        for i, own in enumerate(batches):
            dropout = seeded(seeds[i], own.ids.device) if self.training and seeds is not None else nullcontext()
            with dropout:
                read = self[0 if shared else i](own, None if mixing is None else mixing.of(i))
            parts.append(read[i : i + 1] if shared else read)
        return torch.cat(parts)

    def per_network(self) -> list[list[Tensor]]:
        """Each encoder's parameters."""
        return [list(encoder.parameters()) for encoder in self]

    def stacked_parameters(self) -> list[nn.Parameter]:
        """Those with a leading network axis: none."""
        return []
