"""Co-Teaching+ (Yu et al., 2019), https://arxiv.org/abs/1901.04215."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.coteaching import CoTeaching
from jointmatch.schema import Fraction
from jointmatch.selection import exchanged, exchanged_where_labels_differ
from jointmatch.types import Step, Task


@ALGORITHMS.register("coteachingplus")
class CoTeachingPlus(CoTeaching):
    """Co-Teaching among the texts whose predicted labels differ.

    Like ``coteaching``, it is supervised in the original and given pseudo-labels here. If no predictions differ, all
    texts count early in training and none later. The loss is the cross-entropy of the logits; the published code
    applies the softmax twice. Unverified: see ``unverified``.

    Args:
        task: Number of classes and networks.
        start: Initial share of the training under plain Co-Teaching; 0 on text in the published code, 0.1 on CIFAR-10.
        fallback: Share of the training in which all texts count if no predictions differ; about 5,000 steps on text.
    """

    reference = "Yu et al. 2019, ICML"
    rule = "coteaching's rule among texts with argmax p^f != argmax p^g"
    stated: ClassVar = {"pseudo_labelling": False, "cross_labelling": True, "disagreement_update": True}
    note = "supervised as published; here its rule works on pseudo-labels"
    unverified = (
        f"{CoTeaching.unverified} What the published code holds against 5,000 steps is the epoch times the batch's "
        "number; fallback is 5,000 of the 17,600 steps that 200 epochs of its text data take, by our count."
    )

    def __init__(self, task: Task, *, start: Fraction = 0.0, fallback: Fraction = 0.28, **common: Any) -> None:
        super().__init__(task, **common)
        self.start, self.fallback = start, fallback

    def picked(self, losses: Tensor, predicted: Tensor, share: float, among: Tensor, step: Step) -> Tensor:
        if step.progress < self.start:
            return exchanged(losses, share, among)
        return exchanged_where_labels_differ(losses, predicted, share, among, step.progress < self.fallback)
