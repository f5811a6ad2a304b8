"""FreeMatch (Wang et al., 2023), https://arxiv.org/abs/2205.07246."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.losses import fairness
from jointmatch.schema import Fraction, NonNegative
from jointmatch.selection import SelfAdaptiveThreshold
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("freematch")
class FreeMatch(Composed):
    """Thresholds follow the confidence reached, overall and per class; predictions are kept diverse.

    Args:
        task: Number of classes and networks.
        momentum: Momentum of the running confidence, class mean and label shares.
        fairness_weight: w_f, weight of the term that keeps predictions diverse, in L = L_s + w_u L_u + w_f L_f.
    """

    reference = "Wang et al. 2023, ICLR"
    whole_pool = True
    rule = (
        "L_u = mean 1[max q >= t P(y) / max P] H(y, Q), y = argmax q; t, P, h running means of max q, q and the "
        "labels' shares; plus w_f sum_c N(P / h) log N(mean Q / its labels' shares) over the selected, N "
        "normalises"
    )
    threshold: SelfAdaptiveThreshold

    def __init__(
        self, task: Task, *, momentum: Fraction = 0.999, fairness_weight: NonNegative = 0.001, **common: Any
    ) -> None:
        super().__init__(task, **common)
        self.fairness_weight = fairness_weight
        self.threshold = SelfAdaptiveThreshold(task.num_classes, task.num_networks, momentum)

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        """w_u L_u + w_f L_f, where L_f uses the running means of the network that gave the labels."""
        means = self.teacher(self.threshold.class_mean), self.teacher(self.threshold.label_share)
        fair = fairness(strong_logits, labels.selected, *means)
        return super().unsupervised_loss(strong_logits, labels, step) + self.fairness_weight * fair
