"""The backward pass of a bias and a GELU: one sweep over the numbers, where a compiler needs a second for the bias."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS, BLOCK, COLUMNS = 128, 32, 128  # rows of a program, rows at once, columns of a program


@triton.jit
def _backward(x, bias, grad, out, sums, rows, width, ROWS: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr):
    part, network = tl.program_id(1), tl.program_id(2)
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    within = column < width
    own = tl.load(bias + network * width + column, mask=within, other=0.0).to(tl.float32)
    total = tl.zeros((COLUMNS,), tl.float32)
    for at in range(0, ROWS, BLOCK):
        row = part * ROWS + at + tl.arange(0, BLOCK)
        there = (row < rows)[:, None] & within[None, :]
        place = (network * rows + row).to(tl.int64)[:, None] * width + column[None, :]
        u = tl.load(x + place, mask=there, other=0.0).to(tl.float32) + own[None, :]
        g = tl.load(grad + place, mask=there, other=0.0).to(tl.float32)
        slope = 0.5 * (1 + tl.erf(u * 0.7071067811865476)) + u * tl.exp(-0.5 * u * u) * 0.3989422804014327
        found = (g * slope).to(out.dtype.element_ty)
        tl.store(out + place, found, mask=there)
        total += tl.sum(found.to(tl.float32), 0)
    tl.store(sums + (network * tl.num_programs(1) + part) * width + column, total, mask=within)


@torch.library.custom_op("jointmatch::activation_backward", mutates_args=())
def activation_backward(grad: Tensor, x: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of x (n, M, D) and bias (n, D), from that of ``gelu(x + bias)``."""
    grad, x, bias = grad.contiguous(), x.contiguous(), bias.contiguous()
    count, rows, width = x.shape
    out, parts = torch.empty_like(x), triton.cdiv(rows, ROWS)
    sums = x.new_empty(count, parts, width, dtype=torch.float32)  # summed afterwards, in the same order each time
    grid = triton.cdiv(width, COLUMNS), parts, count
    _backward[grid](x, bias, grad, out, sums, rows, width, ROWS=ROWS, BLOCK=BLOCK, COLUMNS=COLUMNS)
    return out, sums.sum(1).to(bias.dtype)


@activation_backward.register_fake
def _shapes(grad: Tensor, x: Tensor, bias: Tensor) -> Any:
    empty = torch.contiguous_format
    return torch.empty_like(x, memory_format=empty), torch.empty_like(bias, memory_format=empty)
