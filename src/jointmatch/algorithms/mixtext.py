"""MixText (Chen, Yang and Yang, 2020), https://aclanthology.org/2020.acl-main.194."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.losses import consistency, entropy, kl_divergence
from jointmatch.schema import Fraction, NonNegative, Positive
from jointmatch.selection import MIXING_DEPTHS, FixedThreshold, linear_ramp, mean_of_views, own_share, permuted
from jointmatch.types import Mixing, PseudoLabels, Step, Task


@ALGORITHMS.register("mixtext")
class MixText(Composed):
    """Mix the hidden states of texts, labelled or not, together with their labels.

    An unlabelled text's label is the sharpened mean prediction over the text (weak view) and two augmentations of it
    (strong views), and the student reads all three. If texts differ in length, the mix reads the longer one's
    tokens; the published code, which masks no padding, reads every text at full width.

    Args:
        alpha: Parameter of Beta(alpha, alpha), which gives the share of a mix; the larger, the nearer to one half.
        ramp: Share of the training over which w_u grows from 0.
        augmented_weight: Weight of an augmentation's prediction in the mean, where the text's own counts 1.
        hinge_weight: Weight of the mean entropy above the margin on unlabelled mixes; grows as w_u does.
        margin: Entropy, in nats, up to which there is no penalty.
    """

    reference = "Chen et al. 2020, ACL"
    rule = (
        "L_s = H(mixed y, P(mix)), L_u = a(t) KL(mixed q || P(mix)), q = sharpened mean over a text and its "
        "augmentations; h = l h_a + (1 - l) h_b at some layer, l ~ Beta, l >= 1/2"
    )
    unverified = (
        "The published code chooses the augmentations' weights by data set (each 0 or 1), and adds the hinge only at "
        "steps that mix nothing, where ours adds it at every step."
    )
    num_views = 3
    every_view = True

    def __init__(
        self,
        task: Task,
        *,
        alpha: Positive = 16.0,
        ramp: Fraction = 1.0,
        augmented_weight: NonNegative = 1.0,
        hinge_weight: NonNegative = 0.0,
        margin: NonNegative = 0.7,
        targets: Literal["hard", "soft"] = "soft",
        temperature: Positive = 0.5,
        **common: Any,
    ) -> None:
        super().__init__(task, targets=targets, temperature=temperature, **common)
        self.threshold = FixedThreshold(0.0, task.num_classes, task.num_networks)
        self.alpha, self.ramp, self.augmented_weight = alpha, ramp, augmented_weight
        self.hinge_weight, self.margin = hinge_weight, margin

    def probabilities(self, weak_logits: Tensor) -> Tensor:
        return mean_of_views(weak_logits, self.augmented_weight)

    def mixing(self, labeled: int, labels: PseudoLabels | None, step: Step, rng: np.random.Generator) -> Mixing:
        texts = labeled + (0 if labels is None else labels.selected.shape[1])
        partner = permuted(texts, rng).expand(self.task.num_networks, -1)
        return Mixing(partner, own_share(self.alpha, rng), float(rng.choice(MIXING_DEPTHS)))

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        loss = self.weight_at(step) * consistency(strong_logits, labels, kl_divergence)
        hinge = ((entropy(strong_logits) - self.margin).clamp(min=0) * labels.selected).mean(-1)
        return loss + self.hinge_weight * self._grown(step) * hinge

    def weight_at(self, step: Step) -> float:
        return self.unlabeled_weight * self._grown(step)

    def _grown(self, step: Step) -> float:
        return linear_ramp(step.progress, self.ramp)
