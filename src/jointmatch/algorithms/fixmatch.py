"""FixMatch (Sohn et al., 2020), https://arxiv.org/abs/2001.07685."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS, Algorithm
from jointmatch.schema import Fraction
from jointmatch.selection import FixedThreshold, uniform
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("fixmatch")
class FixMatch(Algorithm):
    """Train on the strong view wherever the weak view is confident.

    Args:
        task: Number of classes and networks.
        tau: Confidence a pseudo-label must reach.
    """

    reference = "Sohn et al. 2020, NeurIPS"

    def __init__(self, task: Task, *, tau: Fraction = 0.95, **common: Any) -> None:
        super().__init__(task, **common)
        self.threshold = FixedThreshold(tau, task.num_classes, task.num_networks)

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        probs = weak_logits.softmax(-1)
        selected = self.threshold(probs)
        return PseudoLabels(probs.argmax(-1), selected, uniform(selected))

    def thresholds(self) -> Tensor:
        return self.threshold.current()
