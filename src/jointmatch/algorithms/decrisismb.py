"""DeCrisisMB (Zou et al., 2023), https://aclanthology.org/2023.findings-emnlp.406."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS, Algorithm
from jointmatch.losses import consistency, squared_error
from jointmatch.schema import AtLeastOne, Count, Fraction, NonNegative
from jointmatch.selection import Bank, linear_ramp, uniform
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("decrisismb")
class DeCrisisMB(Algorithm):
    """Remember confident texts class by class, and train on equally many of each class.

    A batch's confident texts enter the memory, under their current label, before texts are drawn from it; nothing is
    drawn until every class has enough. With several networks, all share one memory, labelled by their mean prediction.

    Args:
        tau: Confidence a text must reach to be remembered.
        bank_size: Number of texts remembered per class; the latest push out the oldest.
        per_class: Texts of each class drawn per step, without replacement.
        ramp_steps: Number of steps over which w_u grows from 0.
    """

    reference = "Zou et al. 2023, Findings of EMNLP"
    rule = "L_u = mean (y - p)^2 over texts drawn evenly by class from a memory of those with max q >= tau"
    one_view = True
    chooses = True

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.9,
        bank_size: AtLeastOne = 200,
        per_class: AtLeastOne = 5,
        ramp_steps: Count = 1000,
        unlabeled_weight: NonNegative = 20.0,
        **common: Any,
    ) -> None:
        super().__init__(task, unlabeled_weight=unlabeled_weight, **common)
        self.tau, self.per_class, self.ramp_steps = tau, per_class, ramp_steps
        self.bank = Bank(task.num_classes, bank_size)

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        confidence, label = weak_logits.softmax(-1).mean(0).max(-1)  # (B,)
        self.bank.add(step.index, label, confidence >= self.tau)
        # This waits for the device, but so does fetching the drawn rows.
        if bool((self.bank.filled < self.per_class).any()):
            untaught = label.expand(len(weak_logits), -1)
            nothing = torch.zeros_like(untaught, dtype=torch.bool)
            return PseudoLabels(untaught, nothing, uniform(nothing))
        rows = self.bank.draw(self.per_class, seed=step.batch)
        classes = torch.arange(self.task.num_classes, device=rows.device).repeat_interleave(self.per_class)
        targets = classes.expand(len(weak_logits), -1)
        return PseudoLabels(targets, torch.ones_like(targets, dtype=torch.bool), uniform(targets), rows)

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        return self.weight_at(step) * consistency(strong_logits, labels, squared_error)

    def weight_at(self, step: Step) -> float:
        return self.unlabeled_weight * linear_ramp(step.number, self.ramp_steps)
