"""N networks: encoders (one shared, or one each, separate or stacked) and one head each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from torch import Tensor, nn

from jointmatch.networks.classified import classified, head_seeds
from jointmatch.networks.encoder import Encoder
from jointmatch.networks.encoders import SeparateEncoders
from jointmatch.networks.heads import Heads
from jointmatch.networks.stacked import StackedEncoders
from jointmatch.networks.tokens import Tokens
from jointmatch.types import Mixing


class Moded(nn.Module):
    """A module whose parts stay the same and have their mode set by it alone, which happens at every step.

    If the mode is unchanged, the parts are not visited; otherwise the effect is torch's, many times as fast.
    """

    def __init__(self) -> None:
        super().__init__()
        self._mode: bool | None = None  # parts start in modes of their own
        self._parts: list[nn.Module] | None = None

    def train(self, mode: bool = True) -> Self:
        """Set the mode of all parts."""
        if self._mode is not mode:
            if self._parts is None:  # without self: a reference cycle would keep memory alive for too long
                self._parts = [part for part in self.modules() if part is not self]
            for part in self._parts:
                part.__dict__["training"] = mode
            self.training = self._mode = mode
        return self


class Networks(Moded):
    """From tokens to logits (N, B, C).

    A single encoder gives a layer for every head: frozen in mode lite, trained in mode full by multi-head methods.
    Otherwise there are N encoders, each trained with its head.
    """

    def __init__(self, encoders: Sequence[Encoder] | StackedEncoders, heads: Heads) -> None:
        super().__init__()
        self.encoders = encoders if isinstance(encoders, StackedEncoders) else SeparateEncoders(encoders)
        self.heads = heads

    def features(
        self,
        tokens: Tokens | Sequence[Tokens],
        seeds: Sequence[int] | None = None,
        mixing: Mixing | None = None,
    ) -> Tensor:
        """Features (N, B, D) from one batch for all networks, or from one each."""
        return self.encoders.features(tokens, seeds, mixing)

    def forward(
        self,
        tokens: Tokens | Sequence[Tokens],
        seeds: Sequence[int] | None = None,
        mixing: Mixing | None = None,
    ) -> Tensor:
        """Logits (N, B, C); with ``mixing``, of texts whose hidden states are mixed inside the encoders."""
        if isinstance(self.encoders, StackedEncoders):
            return self.encoders.logits(self.heads, tokens, seeds, mixing)
        features = self.features(tokens, seeds, mixing)
        return classified(features, self.heads, None if seeds is None else head_seeds(seeds))

    def apart(self) -> Networks:
        """The same networks with separate encoders, as they are saved and loaded; the heads are shared."""
        if isinstance(self.encoders, SeparateEncoders):
            return self
        return Networks(list(self.encoders), self.heads).train(self.training)
