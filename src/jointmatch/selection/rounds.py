"""Self-training in rounds: when each phase begins, and which texts its student reads."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor


@lru_cache
def round_phases(total: int, rounds: int, teacher: float, probe: float) -> tuple[range, ...]:
    """The steps of the teacher, then of a probe and a student for each round.

    Args:
        total: Steps of the whole training; rounds are reduced if not every phase would have a step.
        rounds: Number of rounds.
        teacher: Share of all steps for the teacher; the rounds divide the rest evenly.
        probe: Share of a round's steps for its probe.
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
    """Pick ``count`` (N,) of the candidates (N, M), those with the smallest random ``draws`` (N, M): -> (N, M) bool."""
    rank = draws.masked_fill(~candidates, torch.inf).argsort(-1).argsort(-1)
    return candidates & (rank < count.unsqueeze(-1))


def in_turn(texts: Tensor, count: Tensor, start: int, size: int) -> Tensor:
    """Take ``size`` of the first ``count`` () of ``texts`` (M,), from position ``start`` on, wrapping around."""
    return texts[torch.arange(start, start + size, device=texts.device) % count.clamp(min=1)]
