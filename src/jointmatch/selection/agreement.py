"""Keep texts on which all networks agree."""

from __future__ import annotations

from torch import Tensor

from jointmatch.selection.thresholds import FixedThreshold
from jointmatch.types import Step


def unanimous(labels: Tensor) -> Tensor:
    """Whether all networks give a text the same label: (N, B) -> (B,)."""
    return (labels == labels[:1]).all(0)


class AgreedThreshold(FixedThreshold):
    """Keep a text when all networks give it the same label and the probability of each reaches ``tau``."""

    def forward(self, probs: Tensor, step: Step | None = None) -> Tensor:
        """(N, B, C) -> (N, B), the same for every network."""
        sure = super().forward(probs, step)
        return (sure.all(0) & unanimous(probs.argmax(-1))).expand_as(sure)
