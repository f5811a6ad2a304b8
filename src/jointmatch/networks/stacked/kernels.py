"""Attention of n stacked networks by kernels of our own: over each text's tokens alone, and without stored shares.

What is dropped of the shares follows from the numbers that it follows from where they are written out (``Mask``), so
both ways give the same. Written in Triton, which comes with torch for GPUs; importing this module needs it and
registers ``torch.ops.jointmatch.attend``.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from jointmatch.networks.stacked import dropout

FIRST, SECOND = tl.constexpr(dropout.FIRST), tl.constexpr(dropout.SECOND)
BLOCKS = 16, 32, 64  # tokens that a program has at once: as many as the longest text, or the last of these
LARGEST = {torch.float32: 32}  # of numbers twice as long fewer fit into what programs share


@triton.jit
def _task(spans, apart, texts, heads):
    """The network, text and head that a program works on, and where the text begins and how long it is."""
    number = tl.program_id(0)  # many texts at once are more than the other axes of a grid can count
    head, text, network = number % heads, number // heads % texts, number // (heads * texts)
    own = spans + network * apart + text
    return network, text, head, tl.load(own), tl.load(own + texts)


@triton.jit
def _some(pointer, place, length, stride, column):
    """(BLOCK, HEAD) of a text's tokens; zeros behind its end."""
    return tl.load(pointer + place[:, None] * stride + column[None, :], mask=(place < length)[:, None], other=0.0)


@triton.jit
def _hit(rows, columns, below):
    """As ``Mask.hit``."""
    x = (rows[:, None] ^ columns[None, :]) * FIRST
    return (x ^ (x >> 15)) * SECOND < below


@triton.jit
def _forward(
    qkv,
    out,
    logsum,
    spans,
    rows,
    columns,
    apart,
    texts,
    heads,
    tokens,
    width,
    longest,
    scale,
    below,
    raised,
    HEAD: tl.constexpr,
    BLOCK: tl.constexpr,
    DROPS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    network, text, head, start, length = _task(spans, apart, texts, heads)
    first = tl.program_id(1) * BLOCK
    if first < length:
        begin = (network * tokens + start).to(tl.int64)
        column = head * HEAD + tl.arange(0, HEAD)
        query = first + tl.arange(0, BLOCK)
        there = query < length
        base = qkv + begin * 3 * width
        q = _some(base, query, length, 3 * width, column)
        largest = tl.full((BLOCK,), float("-inf"), tl.float32)
        total = tl.zeros((BLOCK,), tl.float32)
        result = tl.zeros((BLOCK, HEAD), tl.float32)
        if DROPS:
            own = tl.load(rows + ((network * texts + text) * heads + head) * longest + query, mask=there, other=0)
        for at in range(0, length, BLOCK):
            key = at + tl.arange(0, BLOCK)
            k = _some(base + width, key, length, 3 * width, column)
            v = _some(base + 2 * width, key, length, 3 * width, column)
            scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale
            scores = tl.where((key < length)[None, :], scores, float("-inf"))
            # Shares so far were reckoned against a smaller largest score.
            now = tl.maximum(largest, tl.max(scores, 1))
            shares, less = tl.exp(scores - now[:, None]), tl.exp(largest - now)
            total = total * less + tl.sum(shares, 1)
            if DROPS:
                theirs = tl.load(columns + network * longest + key, mask=key < length, other=0)
                shares = tl.where(_hit(own, theirs, below), 0.0, shares * raised)
            result = result * less[:, None] + tl.dot(shares.to(v.dtype), v, input_precision=PRECISION)
            largest = now
        result = (result / total[:, None]).to(out.dtype.element_ty)
        tl.store(out + (begin + query)[:, None] * width + column[None, :], result, mask=there[:, None])
        tl.store(logsum + (begin + query) * heads + head, largest + tl.log(total), mask=there)


@triton.jit
def _backward(
    qkv,
    out,
    logsum,
    grad,
    gradients,
    spans,
    rows,
    columns,
    apart,
    texts,
    heads,
    tokens,
    width,
    longest,
    scale,
    below,
    raised,
    HEAD: tl.constexpr,
    BLOCK: tl.constexpr,
    DROPS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    network, text, head, start, length = _task(spans, apart, texts, heads)
    first = tl.program_id(1) * BLOCK
    if first < length:
        begin = (network * tokens + start).to(tl.int64)
        column = head * HEAD + tl.arange(0, HEAD)
        base, given, came = qkv + begin * 3 * width, grad + begin * width, out + begin * width
        own_rows = rows + ((network * texts + text) * heads + head) * longest
        own = first + tl.arange(0, BLOCK)
        # As queries, then as keys and values: the tokens of this block with those of all others.
        for role in tl.static_range(2):
            one = tl.zeros((BLOCK, HEAD), tl.float32)
            other = tl.zeros((BLOCK, HEAD), tl.float32)
            for at in range(0, length, BLOCK):
                theirs = at + tl.arange(0, BLOCK)
                query, key = (own, theirs) if role == 0 else (theirs, own)
                q = _some(base, query, length, 3 * width, column)
                k = _some(base + width, key, length, 3 * width, column)
                v = _some(base + 2 * width, key, length, 3 * width, column)
                g = _some(given, query, length, width, column)
                o = _some(came, query, length, width, column)
                logs = tl.load(logsum + (begin + query) * heads + head, mask=query < length, other=0.0)
                scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale
                both = (query < length)[:, None] & (key < length)[None, :]
                shares = tl.where(both, tl.exp(scores - logs[:, None]), 0.0)
                kept, of_shares = shares, tl.dot(g, tl.trans(v), input_precision=PRECISION)
                if DROPS:
                    row = tl.load(own_rows + query, mask=query < length, other=0)
                    across = tl.load(columns + network * longest + key, mask=key < length, other=0)
                    hit = _hit(row, across, below)
                    kept = tl.where(hit, 0.0, shares * raised)
                    of_shares = tl.where(hit, 0.0, of_shares * raised)
                mean = tl.sum(g.to(tl.float32) * o.to(tl.float32), 1)
                of_scores = (shares * (of_shares - mean[:, None]) * scale).to(q.dtype)
                if role == 0:
                    one += tl.dot(of_scores, k, input_precision=PRECISION)
                else:
                    one += tl.dot(tl.trans(of_scores), q, input_precision=PRECISION)
                    other += tl.dot(tl.trans(kept.to(g.dtype)), g, input_precision=PRECISION)
            target = gradients + (begin + own)[:, None] * 3 * width + column[None, :]
            if role == 0:
                tl.store(target, one.to(gradients.dtype.element_ty), mask=(own < length)[:, None])
            else:
                tl.store(target + width, one.to(gradients.dtype.element_ty), mask=(own < length)[:, None])
                tl.store(target + 2 * width, other.to(gradients.dtype.element_ty), mask=(own < length)[:, None])


def _launched(
    kernel: Any, tensors: list[Tensor], qkv: Tensor, spans: Tensor, heads: int, longest: int, rate: float
) -> None:
    count, tokens, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    texts = spans.shape[2]
    block = min(next((size for size in BLOCKS if longest <= size), BLOCKS[-1]), LARGEST.get(qkv.dtype, BLOCKS[-1]))
    below = min(round(rate * 2**32) - 2**31, 2**31 - 1)
    apart = spans.stride(0) if len(spans) > 1 else 0  # networks that read the same may share their spans
    sizes = (apart, texts, heads, tokens, width, longest, (width // heads) ** -0.5, below, 1 / (1 - rate))
    kernel[(count * texts * heads, -(-longest // block))](
        *tensors,
        *sizes,
        HEAD=width // heads,
        BLOCK=block,
        DROPS=rate > 0,
        PRECISION="ieee" if qkv.dtype == torch.float32 else "tf32",
    )


@torch.library.custom_op("jointmatch::attend", mutates_args=())
def attend(
    qkv: Tensor, spans: Tensor, rows: Tensor, columns: Tensor, heads: int, longest: int, rate: float
) -> tuple[Tensor, Tensor]:
    """What n networks' tokens take from the others of their text.

    Args:
        qkv: (n, M, 3 D), the tokens' queries, keys and values.
        spans: (n or 1, 2, B) int32, where in M each text begins, and how long it is.
        rows: (n, B, H, T) int32, of what is dropped; see ``Mask``.
        columns: (n, T) int32.
        heads: H.
        longest: T.
        rate: How much is dropped; 0 needs neither rows nor columns.

    Returns:
        (n, M, D), zeros where no text has a token, and (n, M, H) for the way back.
    """
    qkv = qkv.contiguous()
    count, tokens, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    out, logsum = qkv.new_zeros(count, tokens, width), qkv.new_zeros(count, tokens, heads, dtype=torch.float32)
    _launched(_forward, [qkv, out, logsum, spans, rows, columns], qkv, spans, heads, longest, rate)
    return out, logsum


@torch.library.custom_op("jointmatch::attend_backward", mutates_args=())
def attend_backward(
    grad: Tensor,
    qkv: Tensor,
    out: Tensor,
    logsum: Tensor,
    spans: Tensor,
    rows: Tensor,
    columns: Tensor,
    heads: int,
    longest: int,
    rate: float,
) -> Tensor:
    """The gradient of ``qkv``."""
    qkv, gradients = qkv.contiguous(), torch.zeros_like(qkv, memory_format=torch.contiguous_format)
    tensors = [qkv, out, logsum, grad.contiguous(), gradients, spans, rows, columns]
    _launched(_backward, tensors, qkv, spans, heads, longest, rate)
    return gradients


@attend.register_fake
def _attend_shapes(
    qkv: Tensor, spans: Tensor, rows: Tensor, columns: Tensor, heads: int, longest: int, rate: float
) -> tuple[Tensor, Tensor]:
    count, tokens, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    return qkv.new_empty(count, tokens, width), qkv.new_empty(count, tokens, heads, dtype=torch.float32)


@attend_backward.register_fake
def _backward_shape(grad: Tensor, qkv: Tensor, *others: Any) -> Tensor:
    return torch.empty_like(qkv, memory_format=torch.contiguous_format)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    qkv, spans, rows, columns, *ctx.sizes = inputs
    ctx.save_for_backward(qkv, *output, spans, rows, columns)


def _back(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    return (torch.ops.jointmatch.attend_backward(grad, *ctx.saved_tensors, *ctx.sizes), *[None] * 6)


attend.register_autograd(_back, setup_context=_keep)
