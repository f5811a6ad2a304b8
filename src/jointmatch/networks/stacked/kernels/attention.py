"""Attention of n stacked networks: over each text's tokens alone, and without storing the shares.

Dropout of the shares is computed from the same numbers as where they are written out (``Mask``), so both ways give the
same.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from jointmatch.networks.stacked import dropout

FIRST, SECOND = tl.constexpr(dropout.FIRST), tl.constexpr(dropout.SECOND)
BLOCKS = 16, 32, 64  # tokens a program handles at once: enough for the longest text, or the last of these
LARGEST = {torch.float32: 32}  # of numbers twice as wide, fewer fit into shared memory


@triton.jit
def _task(spans, apart, texts, heads, tokens, HEAD: tl.constexpr):
    """A program's network, text and head; the text's length, how far the next one is, its first token; its columns."""
    number = tl.program_id(0)  # many texts at once are more than the other axes of a grid can count
    head, text, network = number % heads, number // heads % texts, number // (heads * texts)
    own = spans + network * apart + text
    start, length = tl.load(own), tl.load(own + texts)
    reach = tl.load(own + 1, mask=text + 1 < texts, other=tokens) - start
    column = head * HEAD + tl.arange(0, HEAD)
    return network, text, head, length, reach, (network * tokens + start).to(tl.int64), column


@triton.jit
def _some(pointer, place, length, stride, column):
    """(BLOCK, HEAD) of a text's tokens; zeros behind its end."""
    return tl.load(pointer + place[:, None] * stride + column[None, :], mask=(place < length)[:, None], other=0.0)


@triton.jit
def _clear(pointer, length, reach, stride, column, BLOCK: tl.constexpr):
    """Zeros from a text's end to the next one's beginning: what no text has must be a number, and no gradient."""
    if tl.program_id(1) == 0:
        for at in range(length, reach, BLOCK):
            place = at + tl.arange(0, BLOCK)
            tl.store(pointer + place[:, None] * stride + column[None, :], 0.0, mask=(place < reach)[:, None])


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
    network, text, head, length, reach, begin, column = _task(spans, apart, texts, heads, tokens, HEAD)
    first = tl.program_id(1) * BLOCK
    _clear(out + begin * width, length, reach, width, column, BLOCK)
    if first < length:
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
    WHOLE: tl.constexpr,
    DROPS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    network, text, head, length, reach, begin, column = _task(spans, apart, texts, heads, tokens, HEAD)
    first = tl.program_id(1) * BLOCK
    target = gradients + begin * 3 * width
    for part in tl.static_range(3):
        _clear(target + part * width, length, reach, 3 * width, column, BLOCK)
    if first < length:
        base, given, came = qkv + begin * 3 * width, grad + begin * width, out + begin * width
        logs = logsum + begin * heads + head
        row, across = rows + ((network * texts + text) * heads + head) * longest, columns + network * longest
        own = first + tl.arange(0, BLOCK)
        of_q = tl.zeros((BLOCK, HEAD), tl.float32)
        of_k = tl.zeros((BLOCK, HEAD), tl.float32)
        of_v = tl.zeros((BLOCK, HEAD), tl.float32)
        # The tokens of this block with those of all others: as queries, and as keys and values. A text that is one
        # block is gone through once for both.
        for role in tl.static_range(1 if WHOLE else 2):
            for at in range(0, BLOCK if WHOLE else length, BLOCK):
                theirs = at + tl.arange(0, BLOCK)
                query, key = (own, theirs) if role == 0 else (theirs, own)
                q = _some(base, query, length, 3 * width, column)
                k = _some(base + width, key, length, 3 * width, column)
                v = _some(base + 2 * width, key, length, 3 * width, column)
                g = _some(given, query, length, width, column)
                o = _some(came, query, length, width, column)
                largest = tl.load(logs + query * heads, mask=query < length, other=0.0)
                scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale
                both = (query < length)[:, None] & (key < length)[None, :]
                shares = tl.where(both, tl.exp(scores - largest[:, None]), 0.0)
                kept, of_shares = shares, tl.dot(g, tl.trans(v), input_precision=PRECISION)
                if DROPS:
                    hit = _hit(
                        tl.load(row + query, mask=query < length, other=0),
                        tl.load(across + key, mask=key < length, other=0),
                        below,
                    )
                    kept = tl.where(hit, 0.0, shares * raised)
                    of_shares = tl.where(hit, 0.0, of_shares * raised)
                mean = tl.sum(g.to(tl.float32) * o.to(tl.float32), 1)
                of_scores = (shares * (of_shares - mean[:, None]) * scale).to(q.dtype)
                if role == 0:
                    of_q += tl.dot(of_scores, k, input_precision=PRECISION)
                if WHOLE or role == 1:
                    of_k += tl.dot(tl.trans(of_scores), q, input_precision=PRECISION)
                    of_v += tl.dot(tl.trans(kept.to(g.dtype)), g, input_precision=PRECISION)
        place = target + own[:, None] * 3 * width + column[None, :]
        there = (own < length)[:, None]
        tl.store(place, of_q.to(gradients.dtype.element_ty), mask=there)
        tl.store(place + width, of_k.to(gradients.dtype.element_ty), mask=there)
        tl.store(place + 2 * width, of_v.to(gradients.dtype.element_ty), mask=there)


def _block(longest: int, dtype: torch.dtype) -> int:
    """The number of tokens a program handles at once."""
    return min(next((size for size in BLOCKS if longest <= size), BLOCKS[-1]), LARGEST.get(dtype, BLOCKS[-1]))


def _launched(
    kernel: Any,
    tensors: list[Tensor],
    qkv: Tensor,
    spans: Tensor,
    heads: int,
    longest: int,
    rate: float,
    **constants: Any,
) -> None:
    count, tokens, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    texts, block = spans.shape[2], _block(longest, qkv.dtype)
    below = min(round(rate * 2**32) - 2**31, 2**31 - 1)
    apart = spans.stride(0) if len(spans) > 1 else 0  # networks that read the same batch may share their spans
    sizes = (apart, texts, heads, tokens, width, longest, (width // heads) ** -0.5, below, 1 / (1 - rate))
    kernel[(count * texts * heads, -(-longest // block))](
        *tensors,
        *sizes,
        HEAD=width // heads,
        BLOCK=block,
        DROPS=rate > 0,
        PRECISION="ieee" if qkv.dtype == torch.float32 else "tf32",
        **constants,
    )


@torch.library.custom_op("jointmatch::attend", mutates_args=())
def attend(
    qkv: Tensor, spans: Tensor, rows: Tensor, columns: Tensor, heads: int, longest: int, rate: float
) -> tuple[Tensor, Tensor]:
    """Attention of n networks, each token's over the tokens of its text.

    Args:
        qkv: (n, M, 3 D), the tokens' queries, keys and values.
        spans: (n or 1, 2, B) int32, where in M each text begins, and how long it is.
        rows: (n, B, H, T) int32, for dropout; see ``Mask``.
        columns: (n, T) int32.
        heads: H.
        longest: T.
        rate: The dropout rate; 0 needs neither rows nor columns.

    Returns:
        (n, M, D), zeros where no text has a token, and (n, M, H) for the backward pass.
    """
    qkv = qkv.contiguous()
    count, tokens, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    out, logsum = qkv.new_empty(count, tokens, width), qkv.new_empty(count, tokens, heads, dtype=torch.float32)
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
    qkv, gradients = qkv.contiguous(), torch.empty_like(qkv, memory_format=torch.contiguous_format)
    tensors = [qkv, out, logsum, grad.contiguous(), gradients, spans, rows, columns]
    whole = longest <= _block(longest, qkv.dtype)
    _launched(_backward, tensors, qkv, spans, heads, longest, rate, WHOLE=whole)
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
