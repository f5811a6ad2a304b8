"""Co-Training (Blum and Mitchell, 1998), https://doi.org/10.1145/279943.279962, in mini-batches."""

from __future__ import annotations

from typing import Any, Literal

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.schema import Fraction
from jointmatch.selection import FixedThreshold
from jointmatch.types import Task


@ALGORITHMS.register("cotraining")
class CoTraining(Composed):
    """Each network learns the other's confident labels, on the text as it is.

    The original adds each classifier's surest texts to a growing labelled set, round by round, and its classifiers read
    two halves of the input. Here labels are made anew for every batch. How the networks' inputs differ depends on
    ``network.layers`` and the views per network. Unverified: see ``unverified``.

    Args:
        task: Number of classes and networks.
        tau: Confidence a pseudo-label must reach.
    """

    reference = "Blum and Mitchell 1998, COLT"
    rule = "L_u^f = mean 1[max q^g >= tau] H(argmax q^g, p^f), and the mirror image"
    unverified = (
        "The mini-batch form and its threshold are ours: the original grows a labelled set in rounds by the surest "
        "texts of each class."
    )
    networks = fewest = 2
    one_view = True

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.95,
        labelling: Literal["own", "cross", "others"] = "cross",
        **common: Any,
    ) -> None:
        super().__init__(task, labelling=labelling, **common)
        self.threshold = FixedThreshold(tau, task.num_classes, task.num_networks)
