"""Pseudo-Label (Lee, 2013), in the form with a threshold that later comparisons use."""

from __future__ import annotations

from typing import Any

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.fixmatch import FixMatch
from jointmatch.schema import Fraction
from jointmatch.selection import linear_ramp
from jointmatch.types import Step, Task


@ALGORITHMS.register("pseudolabel")
class PseudoLabel(FixMatch):
    """Train on the network's own confident labels for the same view, slowly at first.

    Unverified against the paper, which has no threshold: the threshold and the ramp are those of later comparisons.

    Args:
        task: Number of classes and networks.
        tau: Confidence a pseudo-label must reach.
        ramp: Share of the steps over which w_u grows from 0.
    """

    reference = "Lee 2013, ICML workshop"
    rule = "L_u = a(t) mean 1[max p >= tau] H(argmax p, p), a growing from 0 to 1 over the first part of training"
    unverified = "the paper was not at hand; threshold and ramp are those of USB, a later comparison"
    one_view = True

    def __init__(self, task: Task, *, tau: Fraction = 0.95, ramp: Fraction = 0.4, **common: Any) -> None:
        super().__init__(task, tau=tau, **common)
        self.ramp = ramp

    def weight_at(self, step: Step) -> float:
        return self.unlabeled_weight * linear_ramp(step.progress, self.ramp)
