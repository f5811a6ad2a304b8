"""Two heads vote on what a third is taught."""

from __future__ import annotations

import torch
from torch import Tensor


def vote(labels: tuple[Tensor, Tensor], above: tuple[Tensor, Tensor], odd_weight: float) -> tuple[Tensor, Tensor]:
    """Labels and weights (N, B) from two voters' labels and whether each one's margin is above the cut.

    One voter above alone teaches its label, whatever the other says, and counts ``odd_weight``; two that agree count 1,
    and 0 is left to two that do not agree, or of which none is above.
    """
    both, odd = above[0] & above[1], above[0] ^ above[1]
    agreed = both & (labels[0] == labels[1])
    return torch.where(above[0], *labels), odd_weight * odd + 1.0 * agreed


def agreement_cuts(margins: Tensor, labels: Tensor, voters: Tensor, quantile: float) -> Tensor:
    """For each taught head and class the quantile of its voters' margins where they agree on it, 0 if nowhere: (N, C).

    Args:
        margins: (N, M, C) of every text and class.
        labels: (N, M), -1 where a text was not seen yet.
        voters: (N, 2), who teaches each head.
        quantile: Share of the margins that are under the cut, interpolated.
    """
    cuts = margins.new_zeros(len(voters), margins.shape[-1])
    for head, pair in enumerate(voters.tolist()):
        one, other = labels[pair]
        agreed = one == other
        for c in one[agreed].unique().tolist():
            if c >= 0:
                rows = agreed & (one == c)
                cuts[head, c] = margins[pair][:, rows, c].float().quantile(quantile)
    return cuts
