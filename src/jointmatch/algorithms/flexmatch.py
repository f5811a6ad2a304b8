"""FlexMatch (Zhang et al., 2021), https://arxiv.org/abs/2110.08263."""

from __future__ import annotations

from typing import Any

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.schema import Fraction
from jointmatch.selection import CurriculumThreshold
from jointmatch.types import Task


@ALGORITHMS.register("flexmatch")
class FlexMatch(Composed):
    """FixMatch with a lower threshold for classes to which few unlabelled texts have been confidently assigned.

    Args:
        task: Number of classes, networks and unlabelled texts.
        tau: Threshold of the class learnt best.
        warm_up: Whether thresholds stay low until most texts have been confidently assigned a class.
    """

    reference = "Zhang et al. 2021, NeurIPS"
    rule = (
        "L_u = mean 1[max q >= tau(y)] H(y, Q), y = argmax q, tau(c) = tau beta(c) / (2 - beta(c)), beta(c) = "
        "texts last surely given c / the most of any class, or texts never sure of if these are more"
    )
    threshold: CurriculumThreshold

    def __init__(self, task: Task, *, tau: Fraction = 0.95, warm_up: bool = True, **common: Any) -> None:
        super().__init__(task, **common)
        self.threshold = CurriculumThreshold(tau, task.num_classes, task.num_networks, task.pool_size, warm_up)
