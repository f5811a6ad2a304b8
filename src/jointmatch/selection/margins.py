"""How far a class is ahead of the others: margins of logits, at one step and over many."""

from __future__ import annotations

import torch
from torch import Tensor


def pseudo_margins(logits: Tensor) -> Tensor:
    """z_c - max_{i != c} z_i of every class: (..., C) -> (..., C), positive for the top class alone."""
    (first, second), top = (part.movedim(-1, 0) for part in logits.topk(2, dim=-1))
    ahead = torch.where(top[0].unsqueeze(-1) == _classes(logits), second.unsqueeze(-1), first.unsqueeze(-1))
    return logits - ahead


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """z_y - max_{c != y} z_c: (N, B, C), (N, B) -> (N, B)."""
    return pseudo_margins(logits).gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def percentile_cut(margins: Tensor, of: Tensor, percentile: float) -> Tensor:
    """The margin that a share ``percentile`` of some texts stay under: (N, M), (N, M) bool -> (N, 1).

    In ascending order it is number floor(percentile * count), counted from 0; minus infinity where there is no text.
    """
    count = of.sum(-1, keepdim=True)
    ordered = margins.masked_fill(~of, torch.inf).sort(-1).values
    place = (count * percentile).long().minimum(count - 1).clamp(min=0)
    return ordered.gather(-1, place).masked_fill(count == 0, -torch.inf)


def _classes(logits: Tensor) -> Tensor:
    return torch.arange(logits.shape[-1], device=logits.device)
