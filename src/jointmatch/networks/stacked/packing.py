"""Texts of different lengths without their padding: all tokens of a batch in one row.

Linear layers, norms and dropout work on single tokens, so they skip the padding. Only attention and pooling look at
whole texts: for these, tokens are laid out by text and position, and gathered back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from jointmatch.networks.stacked.dropout import pick
from jointmatch.ragged import filled_up, within

WORTH = 0.9  # pack if tokens take up at most this share of the padded batch: laying them out costs something too


@dataclass(frozen=True)
class Packing:
    """Where M tokens of each of n networks stand in texts of T positions; ``spot`` None: not packed, M = B * T.

    A row may end in fillers, so that all networks have the same number of tokens and shapes recur.
    """

    mask: Tensor  # (n or 1, B, T) True where there is a token
    place: Tensor  # (n or 1, M) text * T + position; a filler's is 0
    real: Tensor | None = None  # (n or 1, M) False for fillers
    spot: Tensor | None = None  # (n or 1, B, T) where the token is in its row; 0 where there is none
    spans: Tensor | None = None  # (n or 1, 2, B) int32, each text's first token and length, if attention needs them

    def expand(self, count: int) -> Packing:
        """The packing for each of ``count`` networks."""
        return self._each(lambda x: x.expand(count, *x.shape[1:]))

    def of(self, networks: Sequence[int]) -> Packing:
        """The packing of some of the networks."""
        return self._each(lambda x: pick(x, networks))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Packing:
        real, spot, spans = (None if x is None else change(x) for x in (self.real, self.spot, self.spans))
        return Packing(change(self.mask), change(self.place), real, spot, spans)

    def spanned(self) -> Packing:
        """The packing with the spans of its texts, which stand one after another."""
        lengths = self.mask.sum(-1)
        sizes = torch.full_like(lengths, self.mask.shape[-1]) if self.spot is None else lengths
        spans = torch.stack([sizes.cumsum(-1) - sizes, lengths], 1)
        return replace(self, spans=spans.to(torch.int32).contiguous())

    @property
    def text(self) -> Tensor:
        """(n or 1, M) the text each token belongs to."""
        return self.place // self.mask.shape[-1]

    @property
    def position(self) -> Tensor:
        """(n or 1, M) each token's position in its text."""
        return self.place % self.mask.shape[-1]

    def lay_out(self, x: Tensor) -> Tensor:
        """(n, M, D) -> (n, B, T, D); padding gets some token's values, which mean nothing."""
        shape = (*self.mask.shape, x.shape[-1])
        if self.spot is None or self.real is None:
            return x.view(shape)
        return _Taken.apply(x, self.spot.flatten(1), self.place, self.real).view(shape)

    def gather(self, x: Tensor) -> Tensor:
        """(n, B, T, D) -> (n, M, D), the inverse; a filler gets some token's values."""
        if self.spot is None:
            return x.flatten(1, 2)
        return _Taken.apply(x.flatten(1, 2), self.place, self.spot.flatten(1), self.mask.flatten(1))


class _Taken(torch.autograd.Function):
    """Take rows by number, every row that counts once: so the gradient is taken too, and nothing is added up.

    x (n, A, D), there (n, Z) into A, back (n, A) into Z, counts (n, A): whether the row was taken.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, there: Tensor, back: Tensor, counts: Tensor) -> Tensor:
        ctx.save_for_backward(back, counts)
        return _take(x, there)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        back, counts = ctx.saved_tensors
        return _take(grad, back).masked_fill(~counts[..., None], 0), None, None, None


def _take(x: Tensor, rows: Tensor) -> Tensor:
    """(n, A, D) by (n, Z) -> (n, Z, D)."""
    n, size, _ = x.shape
    first = torch.arange(n, device=x.device)[:, None] * size
    return x.flatten(0, 1)[(rows + first).flatten()].view(n, rows.shape[1], -1)


def packing_of(fields: Sequence[Tensor]) -> Packing:
    """The packing from the fields of ``pack``; with a mask alone, every position is a token, padding included."""
    mask, *rest = fields
    size = mask.shape[1] * mask.shape[2]
    return Packing(mask, *rest) if rest else Packing(mask, torch.arange(size, device=mask.device)[None])


def pack(lengths: Sequence[np.ndarray], width: int, grain: int | None = 1) -> list[np.ndarray]:
    """The fields of a ``Packing``, from the lengths of each network's texts, laid out ``width`` wide.

    Rows are filled up to a multiple of ``grain``. With None, or if little is gained, the padding stays and only
    the mask is returned.
    """
    masks = np.arange(width) < np.stack(lengths)[:, :, None]
    used = filled_up(int(masks.sum((1, 2)).max()), grain or 1)
    if grain is None or used > WORTH * masks[0].size:
        return [masks]
    networks, tokens = np.nonzero(masks.reshape(len(masks), -1))
    counts = np.bincount(networks, minlength=len(masks))
    columns = within(counts)
    place = np.zeros((len(masks), used), np.int64)
    place[networks, columns] = tokens
    spot = np.zeros(masks.shape, np.int64)
    spot.reshape(len(masks), -1)[networks, tokens] = columns
    return [masks, place, np.arange(used) < counts[:, None], spot]
