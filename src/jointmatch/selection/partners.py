"""Which text is mixed with which, and how much of itself each keeps. Randomness comes from the caller's generator."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

MIXING_DEPTHS = (7 / 12, 9 / 12, 1.0)  # MixText's layers 7, 9 and 12 of 12, as shares of any encoder's depth


def own_share(alpha: float, rng: np.random.Generator) -> float:
    """max(l, 1 - l) with l from Beta(alpha, alpha): a text keeps at least half of itself."""
    share = float(rng.beta(alpha, alpha))
    return max(share, 1 - share)


def permuted(count: int, rng: np.random.Generator) -> Tensor:
    """A random partner for each of ``count`` texts, each being the partner of exactly one: (B,)."""
    return torch.from_numpy(rng.permutation(count))


def drawn_among(usable: Tensor, count: int, rng: np.random.Generator) -> Tensor:
    """A partner for each of ``count`` texts, drawn uniformly from the ``usable`` ones: (N, M) bool -> (N, count).

    The usable texts may differ between networks; where a network has none, its partners mean nothing.
    """
    chance = torch.from_numpy(rng.random(count)).to(usable.device)
    so_far = usable.cumsum(-1)  # (N, M): number of usable texts up to here
    rank = (chance * so_far[:, -1:]).long()  # the partner is the usable text with this many before it
    return torch.searchsorted(so_far, rank, right=True).clamp(max=usable.shape[-1] - 1)


def labelled_apart(labeled: int, networks: int, selected: Tensor | None, rng: np.random.Generator) -> Tensor:
    """Mix labelled texts with each other, unlabelled ones with any that has a label or is ``selected`` (N, B_u).

    -> (N, B_l + B_u), the labelled ones first.
    """
    given = permuted(labeled, rng).expand(networks, -1)
    if selected is None:
        return given
    given = given.to(selected.device)
    usable = torch.cat([torch.ones_like(given, dtype=torch.bool), selected], dim=1)
    return torch.cat([given, drawn_among(usable, selected.shape[1], rng)], dim=1)
