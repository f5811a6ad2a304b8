"""JointMatch (Zou and Caragea, 2023), https://aclanthology.org/2023.emnlp-main.451."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS, Algorithm
from jointmatch.schema import Fraction
from jointmatch.selection import (
    LABELLING,
    AdaptiveThreshold,
    FixedThreshold,
    confidence_disagreement,
    label_disagreement,
    uniform,
)
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("jointmatch")
class JointMatch(Algorithm):
    """Networks teach each other, each class with its own threshold, disagreement counting more.

    Args:
        task: Number of classes and networks.
        tau: Threshold of the class learnt best.
        momentum: The paper's lambda, of the running class mean that sets the other thresholds.
        delta: Weight of texts the networks disagree on; the others get 1 - delta.
        threshold: ``adaptive`` per class, or ``fixed`` at tau (an ablation).
        adaptivity: Power of p(c) / max p in the adaptive threshold; 1 is the paper's, 0 a fixed one.
        reference: What p(c) is divided by: ``uniform``, nothing (the paper), or its value at the ``start``.
        targets: ``hard``, the teacher's label (the paper), or ``soft``, its probabilities.
        class_mean: ``own``, one per network (the paper), or ``shared`` (the authors' code).
        labelling: ``cross``, taught by the peer, or ``own``, by itself (an ablation).
        weighting: ``disagreement``, by delta, or ``uniform``, every text 1 (an ablation).
        disagreement: of the predicted ``label`` (the paper) or of ``confidence`` (the authors' code).
    """

    reference = "Zou and Caragea 2023, EMNLP"
    networks = 2

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.98,
        momentum: Fraction = 0.9,
        delta: Fraction = 0.9,
        threshold: Literal["adaptive", "fixed"] = "adaptive",
        adaptivity: Fraction = 1.0,
        reference: Literal["uniform", "start"] = "uniform",
        targets: Literal["hard", "soft"] = "hard",
        class_mean: Literal["own", "shared"] = "own",
        labelling: Literal["cross", "own"] = "cross",
        weighting: Literal["disagreement", "uniform"] = "disagreement",
        disagreement: Literal["label", "confidence"] = "label",
        **common: Any,
    ) -> None:
        super().__init__(task, **common)
        shape = (task.num_classes, task.num_networks)
        self.threshold = (
            FixedThreshold(tau, *shape)
            if threshold == "fixed"
            else AdaptiveThreshold(tau, *shape, momentum, class_mean, adaptivity, reference)
        )
        self.teacher, self.soft = LABELLING[labelling], targets == "soft"
        self.delta, self.weighting, self.disagreement = delta, weighting, disagreement

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        probs = weak_logits.softmax(-1)
        labels, confident = probs.argmax(-1), self.threshold(probs)
        targets = self.teacher(probs if self.soft else labels)
        return PseudoLabels(targets, self.teacher(confident), self._weights(labels, confident))

    def _weights(self, labels: Tensor, confident: Tensor) -> Tensor:
        if self.weighting == "uniform":
            return uniform(confident)
        if self.disagreement == "label":
            return label_disagreement(labels, self.delta)
        return confidence_disagreement(confident, self.delta)

    def thresholds(self) -> Tensor:
        return self.threshold.current()
