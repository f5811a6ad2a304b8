"""FixMatch (Sohn et al., 2020), https://arxiv.org/abs/2001.07685."""

from __future__ import annotations

from typing import Any

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.schema import Fraction
from jointmatch.selection import FixedThreshold
from jointmatch.types import Task


@ALGORITHMS.register("fixmatch")
class FixMatch(Composed):
    """Train on the strong view wherever the weak view is confident.

    Args:
        task: Number of classes and networks.
        tau: Confidence a pseudo-label must reach.
    """

    reference = "Sohn et al. 2020, NeurIPS"
    rule = "L_u = mean 1[max q >= tau] H(argmax q, Q)"

    def __init__(self, task: Task, *, tau: Fraction = 0.95, **common: Any) -> None:
        super().__init__(task, **common)
        self.threshold = FixedThreshold(tau, task.num_classes, task.num_networks)
