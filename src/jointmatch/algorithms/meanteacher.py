"""Mean Teacher (Tarvainen and Valpola, 2017), https://arxiv.org/abs/1703.01780."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.config import Settings
from jointmatch.losses import consistency, squared_error
from jointmatch.schema import Fraction, NonNegative
from jointmatch.selection import FixedThreshold, sigmoid_ramp
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("meanteacher")
class MeanTeacher(Composed):
    """Agree on every text with a running average of the network's own weights.

    Both read the same kind of view, each with its own noise and dropout. Written from memory of the paper, not a
    checked reproduction.

    Args:
        ramp: Share of the training over which w_u grows, as exp(-5 (1 - t)^2).
    """

    reference = "Tarvainen and Valpola 2017, NeurIPS"
    rule = "L_u = a(t) mean (q - p)^2, q by the average of the network's own weights, a(t) = exp(-5 (1 - t / T)^2)"
    unverified = (
        "From memory of the paper, which is about images: w_u, the length of its ramp, and the averaging. There the "
        "decay is 0.99 and later 0.999 and labelled texts are to agree as well; here the decay rises as "
        "(1 + t) / (10 + t) to 0.999 and unlabelled ones do."
    )
    one_view = True
    requires: ClassVar[Settings] = {
        "training": {"average_decay": 0.999, "average_warmup": True, "average_labels": True, "label_dropout": True}
    }

    def __init__(
        self,
        task: Task,
        *,
        ramp: Fraction = 0.25,
        unlabeled_weight: NonNegative = 100.0,
        targets: Literal["hard", "soft"] = "soft",
        **common: Any,
    ) -> None:
        super().__init__(task, unlabeled_weight=unlabeled_weight, targets=targets, **common)
        self.threshold = FixedThreshold(0.0, task.num_classes, task.num_networks)
        self.ramp = ramp

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        return self.weight_at(step) * consistency(strong_logits, labels, squared_error)

    def weight_at(self, step: Step) -> float:
        return self.unlabeled_weight * sigmoid_ramp(step.progress, self.ramp)
