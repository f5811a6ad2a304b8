"""The shuffle of numbers that dropout is drawn from: ten small operations as one."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from jointmatch.networks.stacked import dropout

FIRST, SECOND = tl.constexpr(dropout.FIRST), tl.constexpr(dropout.SECOND)
BLOCK = 1024  # numbers per program


@triton.jit
def _scramble(given, out, size, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(given + place, mask=place < size, other=0)
    x = (x ^ (x >> 16 & 0xFFFF)) * FIRST
    x = (x ^ (x >> 13 & 0x7FFFF)) * SECOND
    tl.store(out + place, x ^ (x >> 16 & 0xFFFF), mask=place < size)


@torch.library.custom_op("jointmatch::scramble", mutates_args=())
def scramble(x: Tensor) -> Tensor:
    """As ``dropout.scramble``, for int32 numbers."""
    x = x.contiguous()
    out = torch.empty_like(x)
    _scramble[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), BLOCK=BLOCK)
    return out


@scramble.register_fake
def _shape(x: Tensor) -> Any:
    return torch.empty_like(x, memory_format=torch.contiguous_format)
