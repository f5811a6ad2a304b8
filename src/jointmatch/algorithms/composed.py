"""Threshold x labelling x weighting x targets: all there is to most methods."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from jointmatch.algorithms.base import Algorithm
from jointmatch.schema import Fraction, Positive
from jointmatch.selection import (
    LABELLING,
    confidence_disagreement,
    confident,
    label_disagreement,
    others,
    sharpen,
    uniform,
)
from jointmatch.types import PseudoLabels, Step, Task


class Composed(Algorithm):
    """A method that is a choice of parts. Its file names them, and ``threshold`` is the one it must set.

    Args:
        labelling: Who teaches whom: ``own``, itself; ``cross``, the next network; ``others``, the mean of the others.
        weighting: ``uniform``, every text 1, or ``disagreement``, by delta.
        delta: Weight of texts the networks disagree on; the others get 1 - delta.
        disagreement: of the predicted ``label`` or of ``confidence``: just one of two networks is confident.
        targets: ``hard``, the teacher's label, or ``soft``, its probabilities.
        temperature: Of soft targets: p ** (1 / T), made to sum to 1 again.
    """

    threshold: nn.Module  # probabilities (N, B, C) and step -> mask (N, B); current() -> (N, C)

    def __init__(
        self,
        task: Task,
        *,
        labelling: Literal["own", "cross", "others"] = "own",
        weighting: Literal["uniform", "disagreement"] = "uniform",
        delta: Fraction = 0.9,
        disagreement: Literal["label", "confidence"] = "label",
        targets: Literal["hard", "soft"] = "hard",
        temperature: Positive = 1.0,
        **common: Any,
    ) -> None:
        super().__init__(task, **common)
        self.labelling, self.weighting, self.disagreement = labelling, weighting, disagreement
        self.teacher = LABELLING[labelling]
        self.delta, self.targets, self.temperature = delta, targets, temperature

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        probs = weak_logits.softmax(-1)
        sure = self.threshold(probs, step)
        weights = self.disagreement_weights(probs.argmax(-1), sure) * self.teacher(self.trust(probs, step))
        taught = self.teacher(probs)
        return PseudoLabels(self._targets(taught), self._selected(taught, sure), weights)

    def trust(self, probs: Tensor, step: Step) -> Tensor:
        """How much a network's own label counts besides: (N, B, C) -> (N, B)."""
        return torch.ones_like(probs[..., 0])

    def disagreement_weights(self, labels: Tensor, sure: Tensor) -> Tensor:
        """How much each text counts by the networks' labels (N, B) and masks (N, B)."""
        if self.weighting == "uniform":
            return uniform(sure)
        if self.disagreement == "label":
            return label_disagreement(labels, self.delta)
        return confidence_disagreement(sure, self.delta)

    def thresholds(self) -> Tensor:
        return self.threshold.current()  # type: ignore[operator]

    def _targets(self, taught: Tensor) -> Tensor:
        return sharpen(taught, self.temperature) if self.targets == "soft" else taught.argmax(-1)

    def composition(self) -> dict[str, bool]:
        delta = float(getattr(self.delta, "delta", self.delta))
        by_disagreement = self.weighting == "disagreement" and delta > 0.5
        return super().composition() | {
            "pseudo_labelling": self.uses_unlabeled and self.targets == "hard",
            "adaptive_threshold": bool(self.threshold.adaptive),
            "cross_labelling": self.labelling != "own",
            "disagreement_update": by_disagreement,
            "weighted_update": by_disagreement and delta < 1,  # at 1 texts agreed on are not used at all
        }

    def _selected(self, taught: Tensor, sure: Tensor) -> Tensor:
        if self.teacher is others:  # a mean of several has no threshold but the mean of theirs
            return confident(taught, others(self.thresholds()).to(taught.device))
        return self.teacher(sure)
