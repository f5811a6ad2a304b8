"""Dropout that is a function of seeds: what is dropped follows from (seed, place, text, position) alone.

So a network drops the same whether it is stacked with others or not, however its texts are padded, on any
device, compiled or not. torch's own dropout has one stream for the whole stack. The masks are not those that
``transformers`` would draw from the same seeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

# The multipliers of MurmurHash3's finaliser, as signed 32-bit numbers: multiplying wraps around.
FIRST, SECOND = 0x85EBCA6B - 2**32, 0xC2B2AE35 - 2**32
GOLDEN = 0x9E3779B9 - 2**32


def seed_words(seeds: Sequence[int], device: torch.device) -> Tensor:
    """Seeds of up to 64 bits as (N, 2) int32, on the device without waiting for it."""
    words = torch.from_numpy(np.array(seeds, dtype=np.uint64).view(np.int32).reshape(-1, 2))
    return words.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else words.to(device)


def scramble(x: Tensor) -> Tensor:
    """A fixed shuffle of all int32 numbers: neighbours end up far apart."""
    x = (x ^ (x >> 16 & 0xFFFF)) * FIRST
    x = (x ^ (x >> 13 & 0x7FFFF)) * SECOND
    return x ^ (x >> 16 & 0xFFFF)


class Streams:
    """A stream of random bits for each of n networks.

    Args:
        words: (n, 2) int32, the networks' seeds.
    """

    def __init__(self, words: Tensor) -> None:
        self.words = words

    def of(self, networks: Sequence[int]) -> Streams:
        """The streams of some of the networks."""
        return Streams(pick(self.words, networks))

    def bits(self, shape: Sequence[int], place: int) -> Tensor:
        """Uniform int32 numbers of a shape (n, B, ..., D); a larger shape only adds to a smaller one."""
        key = scramble(scramble(self.words[:, 0] + place) ^ self.words[:, 1])  # (n,)
        columns = scramble((key ^ GOLDEN)[:, None] + _steps(shape[-1], key))  # (n, D)
        rows = key
        for size in shape[1:-1]:
            rows = scramble(rows[..., None] + _steps(size, key))
        # Two hashed halves and one more scramble: the full chain for every number would cost three times as much.
        return scramble(rows[..., None] ^ columns.view(len(key), *[1] * (len(shape) - 2), shape[-1]))

    def hit(self, shape: Sequence[int], rate: float, place: int) -> Tensor:
        """Whether each number of a shape (n, B, ..., D) is dropped, with probability ``rate``."""
        return self.bits(shape, place) < min(round(rate * 2**32) - 2**31, 2**31 - 1)

    def drop(self, x: Tensor, rate: float, place: int) -> Tensor:
        """Dropout of (n, B, ..., D) at one place of the network; the rest is scaled up."""
        if rate == 0:
            return x
        if rate == 1:
            return x * 0
        return x.masked_fill(self.hit(x.shape, rate, place), 0) * (1 / (1 - rate))

    def cut(self, x: Tensor, rate: float, place: int) -> Tensor:
        """Feature cut-off of (n, B, T, D): a dimension goes from all tokens of a text, and nothing is scaled."""
        hit = self.hit((*x.shape[:2], x.shape[-1]), rate, place)
        return x.masked_fill(hit[:, :, None], 0)


def pick(x: Tensor, positions: Sequence[int]) -> Tensor:
    """Some entries of the first axis, by positions that are known beforehand: nothing waits for the device."""
    if list(positions) == list(range(len(x))):
        return x
    return torch.stack([x[i] for i in positions])


def _steps(size: int, like: Tensor) -> Tensor:
    """(size,) numbers far apart, one per position."""
    return torch.arange(size, dtype=torch.int32, device=like.device) * GOLDEN
