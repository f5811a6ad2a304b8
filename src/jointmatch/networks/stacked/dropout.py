"""Dropout that is a function of seeds: what is dropped follows from (seed, place, text, position) alone.

So a network drops the same whether or not it is stacked with others, however its texts are padded, on any
device, compiled or not. torch's own dropout has one stream for the whole stack. The masks are not those that
``transformers`` would draw from the same seeds.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from jointmatch.networks.stacked.packing import Packing

# The multipliers of MurmurHash3's finaliser, as signed 32-bit numbers: multiplying wraps around.
FIRST, SECOND = 0x85EBCA6B - 2**32, 0xC2B2AE35 - 2**32
GOLDEN = 0x9E3779B9 - 2**32


def seed_words(seeds: Sequence[int]) -> np.ndarray:
    """Seeds of up to 64 bits as (N, 2) int32."""
    return np.array(seeds, dtype=np.uint64).view(np.int32).reshape(-1, 2)


def scramble(x: Tensor) -> Tensor:
    """A fixed shuffle of all int32 numbers: neighbours end up far apart."""
    x = (x ^ (x >> 16 & 0xFFFF)) * FIRST
    x = (x ^ (x >> 13 & 0x7FFFF)) * SECOND
    return x ^ (x >> 16 & 0xFFFF)


class Mask(NamedTuple):
    """What n networks drop at one place, half computed: one number for each row and one for each column."""

    rows: Tensor  # (n, ...) int32
    columns: Tensor  # (n, D) int32
    rate: float

    def bits(self) -> Tensor:
        """(n, ..., D) int32 numbers, uniform in their upper halves.

        Rows and columns are scrambled already, so that two multiplications are enough to separate them.
        """
        columns = self.columns.view(len(self.columns), *[1] * (self.rows.ndim - 1), -1)
        x = (self.rows[..., None] ^ columns) * FIRST
        return (x ^ x >> 15) * SECOND

    def hit(self) -> Tensor:
        """(n, ..., D), whether each number is dropped."""
        return self.bits() < min(round(self.rate * 2**32) - 2**31, 2**31 - 1)

    def drop(self, x: Tensor) -> Tensor:
        """Dropout of (n, ..., D); the rest is scaled up."""
        if self.rate == 1:
            return x * 0
        return x.masked_fill(self.hit(), 0) * (1 / (1 - self.rate))


class Masks:
    """What n networks drop at all places of one kind, such as after the halves of each layer.

    Args:
        words: (n, 2) int32, the networks' seeds.
        kind: Which kind of places, a small number.
        places: How many of them there are.
        rows: What identifies a row, one after another, such as its text and its position there: integers that
            together broadcast to (n, ...).
        width: D, the columns.
        rate: The share that is dropped.
        scramble: The shuffle, by our own kernel where there is one.
    """

    def __init__(
        self,
        words: Tensor,
        kind: int,
        places: int,
        rows: Sequence[Tensor],
        width: int,
        rate: float,
        scramble: Callable[[Tensor], Tensor] = scramble,
    ) -> None:
        own = torch.arange(places, dtype=torch.int32, device=words.device)[:, None] + kind * 2**16
        key = scramble(scramble(words[:, 0] + own) ^ words[:, 1])  # (places, n)
        self.columns = scramble((key ^ GOLDEN)[..., None] + _steps(width, key))  # (places, n, D)
        self.rows = key.view(*key.shape, *[1] * max(x.ndim - 1 for x in rows))  # (places, n, ...)
        for known in rows:
            self.rows = scramble(self.rows + known.int() * GOLDEN)
        self.rate = rate

    def of(self, networks: Sequence[int]) -> Masks:
        """The masks of some of the networks."""
        some = copy.copy(self)
        some.rows, some.columns = pick(self.rows, networks, 1), pick(self.columns, networks, 1)
        return some

    def at(self, place: int) -> Mask:
        """The mask of one place."""
        return Mask(self.rows[place], self.columns[place], self.rate)


class LayerDropout(NamedTuple):
    """What is dropped in one layer; None where nothing is."""

    shares: Mask | None = None
    mixed: Mask | None = None
    inner: Mask | None = None


@dataclass(frozen=True)
class Dropout:
    """All that n networks drop in one pass; None where nothing is."""

    hidden: Masks | None = None  # (n, M, D), after the embeddings and after either half of each layer
    shares: Masks | None = None  # (n, B, H, T, T), of attention, in each layer
    words: Masks | None = None  # (n, M, D), cut from all tokens of a text

    def of(self, networks: Sequence[int]) -> Dropout:
        """The dropout of some of the networks."""
        return Dropout(*(masks and masks.of(networks) for masks in (self.hidden, self.shares, self.words)))

    def layer(self, number: int) -> LayerDropout:
        """The dropout of one layer, counted from 0."""
        halves = [self.hidden.at(2 * number + half) if self.hidden else None for half in (1, 2)]
        return LayerDropout(self.shares.at(number) if self.shares else None, *halves)


def drop_in_pass(seeds: Tensor, shape: Any, packing: Packing, cutoff: float) -> Dropout:
    """The dropout a BERT's configuration asks for, for (N, 2) seeds and the tokens of a batch."""
    layers, heads, width = shape.num_hidden_layers, shape.num_attention_heads, shape.hidden_size
    hidden, attention = float(shape.hidden_dropout_prob), float(shape.attention_probs_dropout_prob)
    _, texts, tokens = packing.mask.shape
    grid = [torch.arange(size, device=seeds.device) for size in (texts, heads, tokens)]
    query = [grid[0][None, :, None, None], grid[1][None, None, :, None], grid[2][None, None, None, :]]
    token = [packing.text, packing.position]
    shuffle = scramble if packing.spans is None else torch.ops.jointmatch.scramble
    return Dropout(
        Masks(seeds, 0, 1 + 2 * layers, token, width, hidden, shuffle) if hidden else None,
        Masks(seeds, 1, layers, query, tokens, attention, shuffle) if attention else None,
        Masks(seeds, 2, 1, token[:1], width, cutoff, shuffle) if cutoff else None,
    )


def pick(x: Tensor, positions: Sequence[int], axis: int = 0) -> Tensor:
    """Some entries of an axis, by positions known in advance: nothing waits for the device."""
    if list(positions) == list(range(x.shape[axis])):
        return x
    return torch.stack([x.select(axis, i) for i in positions], axis)


def _steps(size: int, like: Tensor) -> Tensor:
    """(size,) numbers far apart, one per position."""
    return torch.arange(size, dtype=torch.int32, device=like.device) * GOLDEN
