"""A pretrained encoder that gives one vector per text and layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import torch
from torch import Tensor, nn

from jointmatch.networks.cutoff import cut_while_training
from jointmatch.networks.tokens import Tokens

Pooling = Literal["mean", "first"]


def pool(hidden: Tensor, mask: Tensor, how: Pooling) -> Tensor:
    """(B, T, D) and (B, T) -> (B, D): the mean over real tokens, or the first token."""
    if how == "first":
        return hidden[:, 0]
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)


def depth_of(share: float, num_layers: int) -> int:
    """The layer at a share of the depth: 1.0 is the last, 0.67 the fourth of six."""
    return min(max(round(share * num_layers), 1), num_layers)


class Encoder(nn.Module):
    """A transformer and the layers that are read from it.

    Args:
        transformer: Any ``transformers`` encoder.
        layers: Shares of the depth to read, one per network that uses this encoder.
        pooling: How token vectors become one.
    """

    def __init__(self, transformer: nn.Module, layers: Sequence[float], pooling: Pooling) -> None:
        super().__init__()
        self.transformer = transformer
        self.layers, self.pooling = tuple(layers), pooling
        total = int(transformer.config.num_hidden_layers)  # type: ignore[union-attr, arg-type]
        self.depths = [depth_of(share, total) for share in layers]
        self.only_last = all(depth == total for depth in self.depths)

    @property
    def width(self) -> int:
        """D, the length of a feature vector."""
        return cast(int, self.transformer.config.hidden_size)  # type: ignore[union-attr]

    def forward(self, tokens: Tokens) -> Tensor:
        """(B, T) -> (layers, B, D)."""
        out = self.transformer(
            input_ids=tokens.ids, attention_mask=tokens.mask.long(), output_hidden_states=not self.only_last
        )
        if self.only_last:
            last = pool(out.last_hidden_state, tokens.mask, self.pooling)
            return last.expand(len(self.layers), -1, -1)
        pooled = {depth: pool(out.hidden_states[depth], tokens.mask, self.pooling) for depth in set(self.depths)}
        return torch.stack([pooled[depth] for depth in self.depths])

    def cut_features(self, rate: float) -> None:
        """Hide a share of the embeddings' dimensions from each text while training."""
        cut_while_training(self.transformer.get_input_embeddings(), rate)  # type: ignore[operator]

    def freeze_embeddings(self) -> None:
        """Keep the token vectors as they were pretrained."""
        for parameter in self.transformer.get_input_embeddings().parameters():  # type: ignore[operator]
            parameter.requires_grad_(False)
