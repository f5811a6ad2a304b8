"""From encoders to heads: features (N, B, D) to logits (N, B, C)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def classified(features: Tensor, heads: nn.Module, seeds: Sequence[int] | Tensor | None) -> Tensor:
    """Logits (N, B, C) from the encoders' features (N, B, D)."""
    # Heads stay in fp32 under autocast: bf16 has eight bits, too few for logits near a threshold.
    with torch.autocast(features.device.type, enabled=False):
        logits: Tensor = heads(features.float(), seeds)
    return logits


def head_seeds(seeds: Sequence[int]) -> list[int]:
    """The seeds of the networks' heads, derived from those of their encoders."""
    return [seed + 1 for seed in seeds]
