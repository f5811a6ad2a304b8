"""Self-training in rounds: when each phase begins, and which texts its student reads."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor


@lru_cache
def round_phases(total: int, rounds: int, teacher: float, probe: float) -> tuple[range, ...]:
    """The steps of the teacher, then of a probe and of a student for each round.

    Args:
        total: Steps of the whole training; fewer rounds are held where each phase would not have a step.
        rounds: How many.
        teacher: Share of all steps that the teacher gets; the rounds divide the others evenly.
        probe: Share of a round's steps that its probe gets.
    """
    rounds = min(rounds, (total - 1) // 2)
    first = min(max(round(teacher * total), 1), total - 2 * rounds) if rounds else total
    phases = [range(first)]
    for r in range(rounds):
        start, end = (first + (total - first) * i // rounds for i in (r, r + 1))
        middle = start + min(max(round(probe * (end - start)), 1), end - start - 1)
        phases += [range(start, middle), range(middle, end)]
    return tuple(phases)


def random_share(candidates: Tensor, draws: Tensor, count: Tensor) -> Tensor:
    """``count`` (N,) of the candidates (N, M), those with the smallest random ``draws`` (N, M): -> (N, M) bool."""
    rank = draws.masked_fill(~candidates, torch.inf).argsort(-1).argsort(-1)
    return candidates & (rank < count.unsqueeze(-1))


def in_turn(texts: Tensor, count: Tensor, start: int, size: int) -> Tensor:
    """``size`` of the first ``count`` () of ``texts`` (M,), going on from place ``start``, over and over."""
    return texts[torch.arange(start, start + size, device=texts.device) % count.clamp(min=1)]
