"""The records that travel between stages. N networks, B texts, C classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

Label = str | int | float | bool
"""A class as the user wrote it."""


@dataclass(frozen=True)
class Task:
    """What an algorithm may know of the problem before the first step."""

    num_classes: int
    num_networks: int = 1
    pool_size: int = 0


@dataclass(frozen=True)
class Step:
    """Where training stands when a batch of unlabelled texts arrives."""

    index: Tensor  # (B,) position of each text in the unlabelled pool
    number: int = 0
    total: int = 1


@dataclass(frozen=True)
class PseudoLabels:
    """What each network is taught on one unlabelled batch."""

    targets: Tensor  # (N, B) class ids, or (N, B, C) distributions
    selected: Tensor  # (N, B) bool, whether the text is used
    weights: Tensor  # (N, B) how much it counts when used

    def part(self, rows: slice) -> PseudoLabels:
        """The same labels for some of the batch's texts."""
        return PseudoLabels(self.targets[:, rows], self.selected[:, rows], self.weights[:, rows])
