"""Whether our own kernels can be used: they need a GPU, Triton, and attention heads of a width it can multiply."""

from __future__ import annotations

from typing import Any

import torch

from jointmatch.networks.stacked.replay import first_line

WIDTHS = 16, 32, 64, 128
RUN_ON = {"cuda"}


def why_not_fused(shape: Any, device: torch.device) -> str | None:
    """Why our own kernels cannot be used, in words; None if they can. ``shape`` is a BERT's configuration."""
    head, rate = shape.hidden_size // shape.num_attention_heads, float(shape.attention_probs_dropout_prob)
    if device.type not in RUN_ON:
        return f"it pays on a GPU only, and this is {device.type}"
    if head not in WIDTHS:
        return f"its heads are {head} wide, wanted {', '.join(map(str, WIDTHS))}"
    if rate >= 1:
        return "all of it is dropped"
    try:
        for dtype in (torch.bfloat16, torch.float32):
            _try(shape.num_attention_heads, head, rate, device, dtype)
    except Exception as error:  # of many kinds: no Triton, or one that cannot compile here
        return first_line(error)
    return None


def _try(heads: int, head: int, rate: float, device: torch.device, dtype: torch.dtype) -> None:
    """Run each kernel once, attention on a text that fills a program and on a longer one, so that failures show."""
    from jointmatch.networks.stacked import kernels

    for length in (kernels.BLOCKS[-1], 2 * kernels.BLOCKS[-1]):
        qkv = torch.zeros(1, length, 3 * heads * head, device=device, dtype=dtype, requires_grad=True)
        spans = torch.tensor([[[0], [length]]], dtype=torch.int32, device=device)
        rows = kernels.scramble(torch.zeros(1, 1, heads, length, dtype=torch.int32, device=device))
        kernels.attend(qkv, spans, rows, rows[:, 0, 0], heads, length, rate)[0].sum().backward()
    kernels.activation_backward(qkv.detach(), qkv.detach(), torch.zeros(1, qkv.shape[-1], device=device))
