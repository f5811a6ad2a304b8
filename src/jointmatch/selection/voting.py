"""Two heads vote on what a third is taught."""

from __future__ import annotations

import torch
from torch import Tensor


def vote(labels: tuple[Tensor, Tensor], above: tuple[Tensor, Tensor], odd_weight: float) -> tuple[Tensor, Tensor]:
    """Labels and weights (N, B) from two voters' labels and whether each one's margin is above the cut.

    If only one voter is above, its label is taught with weight ``odd_weight``, whatever the other says. Two above that
    agree count 1; if they disagree, or none is above, the weight is 0.
    """
    both, odd = above[0] & above[1], above[0] ^ above[1]
    agreed = both & (labels[0] == labels[1])
    return torch.where(above[0], *labels), odd_weight * odd + 1.0 * agreed


def agreement_cuts(margins: Tensor, labels: Tensor, voters: Tensor, quantile: float) -> Tensor:
    """The quantile of the voters' margins on texts they agree on, per taught head and class; 0 if none: (N, C).

    Args:
        margins: (N, M, C) of every text and class.
        labels: (N, M), -1 for texts not seen yet.
        voters: (N, 2), the heads that teach each head.
        quantile: Share of the margins below the cut, interpolated.
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
