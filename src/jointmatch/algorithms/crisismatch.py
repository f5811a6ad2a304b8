"""CrisisMatch (Zou et al., 2023), https://arxiv.org/abs/2310.14627."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.losses import consistency, squared_error
from jointmatch.schema import Count, Fraction, NonNegative, Positive
from jointmatch.selection import (
    MIXING_DEPTHS,
    FixedThreshold,
    labelled_apart,
    linear_ramp,
    mean_of_views,
    over_selected,
    own_share,
)
from jointmatch.types import Mixing, PseudoLabels, Step, Task


@ALGORITHMS.register("crisismatch")
class CrisisMatch(Composed):
    """Mix texts and their labels: true labels, and confident ones averaged over two augmentations.

    Partly inferred, not a checked reproduction. The student reads both augmentations of a text; the loss is the mean
    over selected texts and over classes. Labelled texts are mixed with each other, unlabelled ones with any.

    Args:
        tau: Confidence the mean prediction must reach.
        alpha: Parameter of Beta(alpha, alpha), from which the share of a mix is drawn.
        ramp_steps: Number of steps over which w_u grows from 0.
    """

    reference = "Zou et al. 2023, ISCRAM"
    rule = (
        "L_u = mean over max q >= tau of (mix of argmax q - P(mix of texts))^2, q the mean over two "
        "augmentations; w_u grows over its first steps; labelled texts are mixed as well"
    )
    unverified = (
        "Inferred from the options of a later code base by the same authors: that all of them were used together, the "
        "layers mixed at (MixText's), and who is mixed with whom. There the share of the labels was not always that "
        "of the texts; here it is."
    )
    num_views = 2
    every_view = True

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.75,
        alpha: Positive = 0.75,
        ramp_steps: Count = 1000,
        unlabeled_weight: NonNegative = 10.0,
        **common: Any,
    ) -> None:
        super().__init__(task, unlabeled_weight=unlabeled_weight, **common)
        self.threshold = FixedThreshold(tau, task.num_classes, task.num_networks)
        self.alpha, self.ramp_steps = alpha, ramp_steps

    def probabilities(self, weak_logits: Tensor) -> Tensor:
        return mean_of_views(weak_logits)

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        labels = super().pseudo_label(weak_logits, step)
        return replace(labels, weights=labels.weights * over_selected(labels.selected))

    def mixing(self, labeled: int, labels: PseudoLabels | None, step: Step, rng: np.random.Generator) -> Mixing:
        partner = labelled_apart(labeled, self.task.num_networks, None if labels is None else labels.selected, rng)
        return Mixing(partner, own_share(self.alpha, rng), float(rng.choice(MIXING_DEPTHS)))

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        return self.weight_at(step) * consistency(strong_logits, labels, squared_error)

    def weight_at(self, step: Step) -> float:
        return self.unlabeled_weight * linear_ramp(step.number, self.ramp_steps)
