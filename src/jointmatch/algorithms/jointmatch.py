"""JointMatch (Zou and Caragea, 2023), https://aclanthology.org/2023.emnlp-main.451."""

from __future__ import annotations

from typing import Any, Literal

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.schema import Fraction
from jointmatch.selection import AdaptiveThreshold, FixedThreshold
from jointmatch.types import Task


@ALGORITHMS.register("jointmatch")
class JointMatch(Composed):
    """Networks teach each other, each class with its own threshold, disagreement counting more.

    Args:
        task: Number of classes and networks.
        tau: Threshold of the class learnt best.
        momentum: The paper's lambda, momentum of the running class mean that sets the other thresholds.
        threshold: ``adaptive`` per class, or ``fixed`` at tau (an ablation).
        adaptivity: Exponent of p(c) / max p in the adaptive threshold; 1 as in the paper, 0 for a fixed threshold.
        reference: Divisor of p(c): none for ``uniform`` (the paper), or its value at the ``start``.
        class_mean: ``own``, one per network (the paper), or ``shared`` (the authors' code).
    """

    reference = "Zou and Caragea 2023, EMNLP"
    rule = (
        "L_u^f = mean w 1[max q^g >= tau^g(y^g)] H(y^g, Q^f), y = argmax q, tau(c) = tau p(c) / max p, "
        "p <- lambda p + (1 - lambda) mean q, w = delta where y^f != y^g, else 1 - delta"
    )
    networks = 2

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.98,
        momentum: Fraction = 0.9,
        threshold: Literal["adaptive", "fixed"] = "adaptive",
        adaptivity: Fraction = 1.0,
        reference: Literal["uniform", "start"] = "uniform",
        class_mean: Literal["own", "shared"] = "own",
        labelling: Literal["own", "cross", "others"] = "cross",
        weighting: Literal["uniform", "disagreement"] = "disagreement",
        **common: Any,
    ) -> None:
        super().__init__(task, labelling=labelling, weighting=weighting, **common)
        shape = (task.num_classes, task.num_networks)
        self.threshold = (
            FixedThreshold(tau, *shape)
            if threshold == "fixed"
            else AdaptiveThreshold(tau, *shape, momentum, class_mean, adaptivity, reference)
        )
