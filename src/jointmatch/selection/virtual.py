"""Texts taught a class that does not exist, to show what an arbitrary label's margins look like."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from jointmatch.randomness import generator
from jointmatch.selection.margins import RunningMargins, percentile_cut
from jointmatch.types import Step, Task

NO_DRAW = -1


class VirtualTexts(nn.Module):
    """A share of the pool, redrawn from time to time, and the cut given by the virtual class's margins on it.

    Args:
        task: Number of networks, classes and unlabelled texts; the virtual class is number C.
        share: Share of the pool that is virtual; never more than one in C.
        draws: Number of draws, evenly spaced.
        between: Shares of the training before the first draw, and after which no texts are virtual.
        smoothing: d of their running margins.
        percentile: Percentile of these margins that is the cut from the next draw on. The first draw's cut is 0.
    """

    place: Tensor  # (M,), a text's number among the K virtual ones; K if it is not virtual
    cut: Tensor  # (N, 1), minus infinity before the first draw
    drawn: Tensor  # (), the draw in force

    def __init__(
        self, task: Task, share: float, draws: int, between: tuple[float, float], smoothing: float, percentile: float
    ) -> None:
        super().__init__()
        self.size = min(int(share * task.pool_size), task.pool_size // task.num_classes)
        self.draws, self.between, self.percentile, self.seed = draws, between, percentile, task.seed
        self.margins = RunningMargins(smoothing, 1, task.num_networks, self.size)
        self.register_buffer("place", torch.full((task.pool_size,), self.size))
        self.register_buffer("cut", torch.full((task.num_networks, 1), -torch.inf))
        self.register_buffer("drawn", torch.tensor(NO_DRAW))

    def forward(self, margins: Tensor, step: Step) -> Tensor:
        """Draw if it is time, update with the virtual class's margins (N, B): -> which texts are virtual (B,)."""
        now = self.draw_at(step.number, step.total)
        if now != self.draw_at(step.number - 1, step.total) and now != int(self.drawn):
            self._draw(now)
        place = self.place[step.index]
        virtual = place < self.size
        self.margins(margins.unsqueeze(-1), place, virtual)
        return virtual

    def draw_at(self, number: int, total: int) -> int:
        """Which draw is in force at a step."""
        begin, end = (round(share * total) for share in self.between)
        return (number - begin) * self.draws // (end - begin) if begin <= number < end else NO_DRAW

    def _draw(self, now: int) -> None:
        met = self.margins.visits[:-1] > 0
        cut = percentile_cut(self.margins.mean[:, :-1, 0], met.expand(len(self.cut), -1), self.percentile)
        # If no virtual text was seen, the cut stays; it is 0 once the first texts are drawn.
        self.cut.copy_(torch.where(cut.isfinite(), cut, self.cut.clamp(min=0)))
        self.margins.reset()
        self.place.fill_(self.size)
        if now != NO_DRAW:
            chosen = generator(self.seed, "virtual", now).permutation(len(self.place))[: self.size]
            self.place[torch.from_numpy(chosen).to(self.place.device)] = torch.arange(self.size).to(self.place.device)
        self.drawn.fill_(now)
