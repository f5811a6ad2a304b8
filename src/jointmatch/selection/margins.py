"""How far a class is ahead of the others: margins of logits, at one step and over many."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def pseudo_margins(logits: Tensor) -> Tensor:
    """z_c - max_{i != c} z_i for every class: (..., C) -> (..., C), positive for the top class only."""
    first, second = logits.topk(2, dim=-1).values.split(1, dim=-1)
    return logits - torch.where(logits == first, second, first)


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """z_y - max_{c != y} z_c: (N, B, C), (N, B) -> (N, B)."""
    return pseudo_margins(logits).gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def percentile_cut(margins: Tensor, of: Tensor, percentile: float) -> Tensor:
    """The margin that a share ``percentile`` of the texts in ``of`` stay below: (N, M), (N, M) bool -> (N, 1).

    It is number floor(percentile * count) in ascending order, counted from 0, or minus infinity if there are no texts.
    """
    count = of.sum(-1, keepdim=True)
    if not margins.shape[-1]:
        return margins.new_full(count.shape, -torch.inf)
    ordered = margins.masked_fill(~of, torch.inf).sort(-1).values
    place = (count * percentile).long().minimum(count - 1).clamp(min=0)
    return ordered.gather(-1, place).masked_fill(count == 0, -torch.inf)


def last_places(index: Tensor, size: int) -> Tensor:
    """Position in a batch of the last occurrence of each of its texts ``index`` (B,), out of ``size``: (B,).

    Reading from there, every occurrence of a text writes the same value, so the order of the writes does not matter.
    """
    places = torch.arange(len(index), device=index.device)
    return places.new_zeros(size).scatter_reduce(0, index, places, "amax")[index]


class RunningMargins(nn.Module):
    """APM <- d / (1 + t) PM + (1 - d / (1 + t)) APM for each text, where t counts its earlier visits; 0 at first.

    Args:
        smoothing: d; 1 gives the plain mean over the visits.
        num_outputs: C, or the number of margins per text.
        num_networks: N.
        pool_size: M.
    """

    mean: Tensor  # (N, M + 1, C), the last row for texts that do not count
    visits: Tensor  # (M + 1,)

    def __init__(self, smoothing: float, num_outputs: int, num_networks: int, pool_size: int) -> None:
        super().__init__()
        self.smoothing = smoothing
        self.register_buffer("mean", torch.zeros(num_networks, pool_size + 1, num_outputs))
        self.register_buffer("visits", torch.zeros(pool_size + 1))

    def forward(self, margins: Tensor, index: Tensor, counted: Tensor | None = None) -> Tensor:
        """Update with the margins (N, B, C) of texts ``index`` (B,), or of those ``counted``: -> their means (N, B, C).

        If a text is in the batch twice, the last one counts.
        """
        index = index if counted is None else torch.where(counted, index, len(self.visits) - 1)
        last = last_places(index, len(self.visits))
        rate = self.smoothing / (1 + self.visits[index])
        mean = torch.lerp(self.mean[:, index], margins[:, last], rate.unsqueeze(-1).expand_as(margins))
        self.mean[:, index] = mean
        self.visits[index] += 1
        self.mean[:, -1], self.visits[-1] = 0, 0  # no text's own: what is written there depends on the batch order
        return mean

    def reset(self) -> None:
        """Forget everything."""
        self.mean.zero_()
        self.visits.zero_()
