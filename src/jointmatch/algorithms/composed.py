"""Threshold x labelling x weighting x targets: all that most methods consist of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from jointmatch.algorithms.base import Algorithm
from jointmatch.errors import ConfigError
from jointmatch.schema import Fraction, Positive
from jointmatch.selection import (
    LABELLING,
    Alignment,
    Delta,
    DeltaRule,
    confidence_disagreement,
    confident,
    cross,
    label_disagreement,
    mean_one,
    others,
    sharpen,
    uniform,
)
from jointmatch.types import PseudoLabels, Step, Task


class Composed(Algorithm):
    """A method assembled from parts. Its file chooses them; ``threshold`` is the only one it must set.

    Args:
        labelling: Each network's teacher: itself (``own``), the next one (``cross``) or the mean of the ``others``.
        weighting: ``uniform``, every text counts 1, or ``disagreement``, weighted by delta.
        delta: Weight of texts the networks disagree on; the others get 1 - delta.
        delta_rule: ``constant``; falling to 0.5 by ``time`` or ``confidence``; or 1 - running rate of ``disagreement``.
        normalize_weights: Scale the disagreement weights so that selected texts weigh 1 on average.
        disagreement: By ``label``, or by ``confidence`` (just one is sure), with the next network or the ``others``.
        targets: ``hard``, the teacher's label, or ``soft``, its probabilities.
        temperature: Temperature T of soft targets, p ** (1 / T) normalised to sum to 1.
        alignment: Class balance to shift predictions to: ``none``, ``uniform``, ``labeled``, ``given``, ``estimate``.
        balance: Class shares of the pool if alignment is ``given``, in the order of the classes.
        alignment_momentum: Momentum of the running mean prediction that alignment divides by.
    """

    threshold: nn.Module  # probabilities (N, B, C) and step -> mask (N, B); current() -> (N, C)

    def __init__(
        self,
        task: Task,
        *,
        labelling: Literal["own", "cross", "others"] = "own",
        weighting: Literal["uniform", "disagreement"] = "uniform",
        delta: Fraction = 0.9,
        delta_rule: DeltaRule = "constant",
        normalize_weights: bool = False,
        disagreement: Literal["label", "confidence"] = "label",
        targets: Literal["hard", "soft"] = "hard",
        temperature: Positive = 1.0,
        alignment: Literal["none", "uniform", "labeled", "given", "estimate"] = "none",
        balance: tuple[Positive, ...] = (),
        alignment_momentum: Fraction = 0.9,
        **common: Any,
    ) -> None:
        super().__init__(task, **common)
        self.labelling, self.weighting, self.disagreement = labelling, weighting, disagreement
        self.teacher = LABELLING[labelling]
        self.delta = Delta(delta, delta_rule, task.num_classes)
        self.normalize_weights = normalize_weights
        self.targets, self.temperature = targets, temperature
        target = _target_balance(task, alignment, balance)
        shape = (task.num_classes, task.num_networks)
        self.align = nn.Identity() if alignment == "none" else Alignment(target, *shape, alignment_momentum)

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        probs = self.align(self.probabilities(weak_logits))
        sure = self.threshold(probs, step)
        taught = self.teacher(probs)
        selected = self._selected(taught, sure)
        weights = uniform(sure)
        if self.weighting == "disagreement":
            weights = self._disagreement_weights(probs, taught, sure, selected, step)
        return PseudoLabels(self._targets(taught), selected, weights * self.teacher(self.trust(probs, step)))

    def probabilities(self, weak_logits: Tensor) -> Tensor:
        """Each network's predictions: (N, B, C), or (V, N, B, C) with several views -> (N, B, C)."""
        return weak_logits.softmax(-1)

    def trust(self, probs: Tensor, step: Step) -> Tensor:
        """Additional weight of each network's own label: (N, B, C) -> (N, B)."""
        return torch.ones_like(probs[..., 0])

    def thresholds(self) -> Tensor:
        return self.threshold.current()  # type: ignore[operator]

    @classmethod
    def fewest_under(cls, settings: Mapping[str, Any]) -> int:
        taught = settings["labelling"] != "own" or settings["weighting"] == "disagreement"
        return max(cls.fewest, 2 if taught else 1)

    def _disagreement_weights(
        self, probs: Tensor, taught: Tensor, sure: Tensor, selected: Tensor, step: Step
    ) -> Tensor:
        """Weights by delta, comparing each network with its teacher, or with the next one if it teaches itself."""
        by_label = self.disagreement == "label"
        mine, teachers = (probs.argmax(-1), taught.argmax(-1)) if by_label else (sure, selected)
        peers = teachers if self.teacher is others else cross(mine)
        rule = label_disagreement if by_label else confidence_disagreement
        weights = rule(mine, peers, self.delta(mine != peers, probs, step))
        return mean_one(weights, selected) if self.normalize_weights else weights

    def _targets(self, taught: Tensor) -> Tensor:
        return sharpen(taught, self.temperature) if self.targets == "soft" else taught.argmax(-1)

    def composition(self) -> dict[str, bool]:
        delta = self.delta.delta
        by_disagreement = self.weighting == "disagreement" and delta > 0.5
        return super().composition() | {
            "pseudo_labelling": self.uses_unlabeled and self.targets == "hard",
            "cross_labelling": self.labelling != "own",
            "disagreement_update": by_disagreement,
            "weighted_update": by_disagreement and delta < 1,  # at 1, texts agreed on are not used at all
        }

    def _selected(self, taught: Tensor, sure: Tensor) -> Tensor:
        if self.teacher is others:  # a mean of networks has the mean of their thresholds
            return confident(taught, others(self.thresholds()).to(taught.device))
        return self.teacher(sure)


def _target_balance(task: Task, alignment: str, balance: tuple[float, ...]) -> tuple[float, ...] | None:
    """The class shares to align to; None if they are estimated or not needed."""
    if alignment == "given" and len(balance) != task.num_classes:
        raise ConfigError([f"algorithm.balance has {len(balance)} shares, wanted {task.num_classes}, one per class"])
    if alignment != "given" and balance:
        raise ConfigError([f"algorithm.balance is only used with algorithm.alignment = 'given', not {alignment!r}"])
    if alignment == "labeled" and not task.labeled_balance:
        raise ConfigError(["algorithm.alignment is 'labeled', but the labelled texts' balance is not known here"])
    uniform_balance = (1.0,) * task.num_classes
    return {"given": balance, "labeled": task.labeled_balance, "uniform": uniform_balance}.get(alignment)
