"""Decoupling (Malach and Shalev-Shwartz, 2017), https://arxiv.org/abs/1706.02613."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.schema import Fraction
from jointmatch.selection import FixedThreshold
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("decoupling")
class Decoupling(Composed):
    """Each network learns only from texts whose labels the networks disagree on, from its own label.

    The original is supervised: it learns the given, noisy label of these texts. Pool texts have none, so here each
    network uses its own. Unverified: see ``unverified``.

    Args:
        task: Number of classes and networks.
        tau: Confidence a pseudo-label must reach; 0 for none, as in the original, whose labels are given.
    """

    reference = "Malach and Shalev-Shwartz 2017, NeurIPS"
    rule = "L_u^f = mean 1[y^f != y^g] 1[max q^f >= tau] H(y^f, p^f), y = argmax q"
    stated: ClassVar = {"pseudo_labelling": False}
    note = "supervised as published; here its rule works on pseudo-labels"
    unverified = (
        "The original is supervised, with given labels, and has no pseudo-labels: own labels on unlabelled texts are "
        "our form of it, and so is their threshold. Written from memory of the paper."
    )
    networks = fewest = 2
    one_view = True

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.95,
        weighting: Literal["uniform", "disagreement"] = "disagreement",
        delta: Fraction = 1.0,
        **common: Any,
    ) -> None:
        super().__init__(task, weighting=weighting, delta=delta, **common)
        self.threshold = FixedThreshold(tau, task.num_classes, task.num_networks)

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        labels = super().pseudo_label(weak_logits, step)
        return replace(labels, selected=labels.selected & (labels.weights > 0))  # texts of weight 0 are not used
