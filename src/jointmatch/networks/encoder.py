"""A pretrained encoder that gives one vector per text and layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from jointmatch.networks.cutoff import cut_while_training
from jointmatch.networks.mixing import mix, mixed_after, union
from jointmatch.networks.tokens import Tokens
from jointmatch.types import Mixing

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
        self.quick: Callable[[Tokens], dict[int, Tensor]] | None = None  # see networks/quick.py
        self.register_load_state_dict_post_hook(_forget_quick)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.transformer.parameters()).device

    @property
    def in_integers(self) -> bool:
        """Whether features are computed with 8-bit integer products."""
        return bool(getattr(self.quick, "integers", False))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Encoder:
        self.quick = None  # it holds the weights that are moved or converted here
        return super()._apply(fn, recurse)

    @property
    def width(self) -> int:
        """D, the length of a feature vector."""
        return cast(int, self.transformer.config.hidden_size)  # type: ignore[union-attr]

    def forward(self, tokens: Tokens, mixing: Mixing | None = None) -> Tensor:
        """(B, T) -> (layers, B, D); with ``mixing``, texts are mixed with each other on the way."""
        if mixing is not None:
            return self._mixed(tokens, mixing)
        if self.quick is not None and not self.training and not torch.is_grad_enabled():
            return self._pooled(self.quick(tokens), tokens.mask)
        return self._pooled(self._hidden(tokens), tokens.mask)

    def _hidden(self, tokens: Tokens) -> dict[int, Tensor]:
        """Depth -> hidden states (B, T, D) of the layers that are read."""
        out = self.transformer(
            input_ids=tokens.ids, attention_mask=tokens.mask.long(), output_hidden_states=not self.only_last
        )
        if self.only_last:
            return {self.depths[0]: out.last_hidden_state}
        return {depth: out.hidden_states[depth] for depth in set(self.depths)}

    def _mixed(self, tokens: Tokens, mixing: Mixing) -> Tensor:
        """Features of texts mixed at a share of the layers that are read; at 1.0 just before pooling."""
        at = depth_of(mixing.depth, min(self.depths))
        with mixed_after(at, self.transformer, mixing):
            hidden = self._hidden(tokens)
        if at in hidden:
            hidden[at] = mix(hidden[at], mixing)
        return self._pooled(hidden, union(tokens.mask, mixing.partner))

    def _pooled(self, hidden: dict[int, Tensor], mask: Tensor) -> Tensor:
        pooled = {depth: pool(states, mask, self.pooling) for depth, states in hidden.items()}
        if self.only_last:
            return pooled[self.depths[0]].expand(len(self.layers), -1, -1)
        return torch.stack([pooled[depth] for depth in self.depths])

    def cut_features(self, rate: float) -> None:
        """Hide a share of each text's embedding dimensions while training."""
        cut_while_training(self.transformer.get_input_embeddings(), rate)  # type: ignore[operator]

    def freeze_embeddings(self) -> None:
        """Freeze the pretrained token vectors."""
        for parameter in self.transformer.get_input_embeddings().parameters():  # type: ignore[operator]
            parameter.requires_grad_(False)


def _forget_quick(encoder: nn.Module, loaded: Any) -> None:
    """Drop the quick form, which holds the previous weights."""
    encoder.quick = None  # type: ignore[assignment]
