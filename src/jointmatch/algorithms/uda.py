"""Unsupervised Data Augmentation (Xie et al., 2020), https://arxiv.org/abs/1904.12848."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.losses import consistency, cross_entropy, kl_divergence, mean_over
from jointmatch.schema import Fraction, Positive
from jointmatch.selection import FixedThreshold, signal_level
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("uda")
class UDA(Composed):
    """Match the sharpened weak-view prediction on the strong view; leave easy labelled texts until later.

    Args:
        task: Number of classes and networks.
        beta: Confidence that a text must exceed to be used; 0 uses all.
        annealing: How the confidence limit above which labelled texts are left out rises; ``none`` sets no limit.
    """

    reference = "Xie et al. 2020, NeurIPS"
    rule = "L_s over labelled texts with p_y <= eta_t; L_u = mean 1[max q > beta] KL(softmax(z / T) || Q)"
    unverified = (
        "the authors' script for a base model shows 3 unlabelled texts to a labelled one and sharpens nothing; that "
        "for a large one 7, and T 0.85. Here T is the latter's, mu the former's."
    )
    whole_labels = True

    def __init__(
        self,
        task: Task,
        *,
        beta: Fraction = 0.0,
        annealing: Literal["none", "linear", "log", "exp"] = "linear",
        targets: Literal["hard", "soft"] = "soft",
        temperature: Positive = 0.85,
        **common: Any,
    ) -> None:
        super().__init__(task, targets=targets, temperature=temperature, **common)
        self.annealing = annealing
        self.threshold = FixedThreshold(beta, task.num_classes, task.num_networks, strict=True)

    def supervised_loss(self, logits: Tensor, y: Tensor, step: Step) -> Tensor:
        """Mean over the labelled texts that are not yet too easy; 0 if all are."""
        per_text = cross_entropy(logits, y)
        level = signal_level(step.progress, self.annealing, self.task.num_classes)
        kept = (-per_text).exp() <= level  # the probability of the true class
        return mean_over(per_text, kept)

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        return self.weight_at(step) * consistency(strong_logits, labels, kl_divergence)
