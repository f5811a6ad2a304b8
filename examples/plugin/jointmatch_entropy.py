"""Entropy minimisation (Grandvalet and Bengio, 2005), as a plug-in of jointmatch."""

from typing import Any, ClassVar

import torch
from torch import Tensor

from jointmatch.algorithms import Algorithm
from jointmatch.losses import cross_entropy
from jointmatch.schema import Fraction
from jointmatch.types import PseudoLabels, Step, Task


class Entropy(Algorithm):
    """Make up your mind: predictions on unlabelled texts are pushed away from the middle.

    Args:
        ramp: Share of training over which w_u grows from 0; at 0 it is whole from the start.
    """

    reference = "Grandvalet and Bengio 2005, NeurIPS"
    rule = "L_u = min(1, t / (ramp T)) mean H(Q, Q)"
    one_view = True
    stated: ClassVar = {"pseudo_labelling": False}
    note = "a prediction is its own soft target: there is no label to be right or wrong."

    def __init__(self, task: Task, *, ramp: Fraction = 0.4, **common: Any) -> None:
        super().__init__(task, **common)
        self.ramp = ramp

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        label = weak_logits.argmax(-1)  # (N, B), only counted
        return PseudoLabels(label, torch.ones_like(label, dtype=torch.bool), torch.ones(label.shape).to(label.device))

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        entropy = cross_entropy(strong_logits, strong_logits.softmax(-1))  # (N, B)
        return self.weight_at(step) * (entropy * labels.selected).mean(-1)

    def weight_at(self, step: Step) -> float:
        return self.unlabeled_weight * (min(1.0, step.progress / self.ramp) if self.ramp else 1.0)
