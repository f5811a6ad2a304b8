"""MultiMatch (Sirbu et al., 2025), https://arxiv.org/abs/2506.07801."""

from __future__ import annotations

from math import ceil
from typing import Any, ClassVar

import torch
from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS, Algorithm
from jointmatch.schema import AtLeastOne, Fraction, NonNegative
from jointmatch.selection import (
    RunningMargins,
    SelfAdaptiveThreshold,
    agreement_cuts,
    last_places,
    pseudo_margins,
    vote,
)
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("multimatch")
class MultiMatch(Algorithm):
    """Three heads on one encoder, where the other two vote on each head's label and its weight.

    If both voters' margins are above the cut and their labels agree, the weight is 1. If just one is above, its label
    is taught with a larger weight. Otherwise the weight is 0. At least one of the two must also be sure by FreeMatch's
    threshold. A margin is the running mean over a text's visits; the cut of each class is a quantile of the voters'
    margins on texts they agree on, taken after each epoch, and nothing is taught in the first. An epoch is a pass over
    the pool, or less if that takes too long. With any other number of heads the next two vote, including the head
    itself if need be.

    Args:
        task: Number of classes, heads and unlabelled texts.
        momentum: Momentum of FreeMatch's running means.
        smoothing: d, in APM <- d / (1 + t) PM + (1 - d / (1 + t)) APM at a text's visit t, counted from 0.
        quantile: Share of the margins on agreed texts that lie below the cut.
        cut_floor: Whether a cut is never below 0.
        odd_weight: Weight of texts where just one voter is above the cut.
        epochs: Minimum number of epochs; they are shortened if passes over the pool would give fewer.
    """

    reference = "Sirbu et al. 2025, EMNLP"
    rule = (
        "for each head the other two vote: one label and both margins above the cut: weight 1; just one margin "
        "above: its label, weight 3; else 0; times 1[FreeMatch's threshold is reached by one of the two]; L_s is "
        "the sum over the heads, L_u the mean"
    )
    unverified = (
        "An epoch is a pass over the pool, in the published code 1,024 of 102,400 steps. FreeMatch's means take in "
        "each batch once, there twice. A class that is never agreed on has cut 0 and those after it have their own; "
        "there, their old one. Margins are weighed by a text's own visits, there by epochs, "
        "and heads predict by the mean of their probabilities, there of their logits."
    )
    stated: ClassVar = {"cross_labelling": True, "weighted_update": True}
    note = "heads instead of networks: two vote on what the third is taught, and count more where just one is sure"
    networks = 3
    fewest = 2
    shared_encoder = True
    requires = {"network": {"layers": (1.0,)}}  # noqa: RUF012  all heads read the same

    latest: Tensor  # (N, M), each text's label at its latest visit; -1 before the first
    cuts: Tensor  # (N, C), the margins that a head's voters must reach

    def __init__(
        self,
        task: Task,
        *,
        momentum: Fraction = 0.999,
        smoothing: Fraction = 0.997,
        quantile: Fraction = 0.05,
        cut_floor: bool = False,
        odd_weight: NonNegative = 3.0,
        epochs: AtLeastOne = 10,
        unlabeled_weight: NonNegative = 3.0,
        **common: Any,
    ) -> None:
        super().__init__(task, unlabeled_weight=unlabeled_weight, **common)
        self.quantile, self.cut_floor, self.odd_weight, self.epochs = quantile, cut_floor, odd_weight, epochs
        self.threshold = SelfAdaptiveThreshold(task.num_classes, task.num_networks, momentum)
        self.margins = RunningMargins(smoothing, task.num_classes, task.num_networks, task.pool_size)
        self.register_buffer("latest", torch.full((task.num_networks, task.pool_size), -1))
        self.register_buffer("cuts", torch.zeros(task.num_networks, task.num_classes))

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        epoch, since = divmod(step.batch, self.epoch_length(step))
        if epoch and not since:
            heads = torch.arange(len(weak_logits))
            voters = torch.stack([heads.roll(-1), heads.roll(-2)], -1)
            cuts = agreement_cuts(self.margins.mean[:, :-1], self.latest, voters, self.quantile)
            self.cuts.copy_(cuts.clamp(min=0) if self.cut_floor else cuts)
        sure, label = self.threshold(weak_logits.softmax(-1), step), weak_logits.argmax(-1)
        margins = self.margins(pseudo_margins(weak_logits), step.index).gather(-1, label.unsqueeze(-1)).squeeze(-1)
        self.latest[:, step.index] = label[:, last_places(step.index, self.task.pool_size)]
        labels = label.roll(-1, 0), label.roll(-2, 0)
        above = tuple(margins.roll(-i, 0) >= self.cuts.gather(-1, labels[i - 1]) for i in (1, 2))
        targets, weights = vote(labels, above, self.odd_weight)
        selected = (weights > 0) & (sure.roll(-1, 0) | sure.roll(-2, 0)) & bool(epoch)
        return PseudoLabels(targets, selected, weights)

    def epoch_length(self, step: Step) -> int:
        """Batches in a pass over the pool, or fewer if that would give too few epochs."""
        return min(ceil(self.task.pool_size / len(step.index)), ceil(step.total * step.turns / self.epochs))

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        """w_u L_u, where L_u is the mean over the heads, while L_s is their sum."""
        return super().unsupervised_loss(strong_logits, labels, step) / len(strong_logits)

    def thresholds(self) -> Tensor:
        return self.threshold.current()
