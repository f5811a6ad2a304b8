"""AUM-ST (Sosea and Caragea, 2022), https://aclanthology.org/2022.findings-emnlp.350."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS, Algorithm
from jointmatch.losses import consistency
from jointmatch.randomness import generator
from jointmatch.schema import AtLeastOne, Fraction, NonNegative
from jointmatch.selection import in_turn, margin, percentile_cut, random_share, round_phases, uniform
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("aumst")
class AUMST(Algorithm):
    """Self-training in rounds; labels a trial student finds no easier to learn than made-up ones are dropped.

    A teacher is trained on the labels. In each round, a probe is trained on the texts the teacher was sure of, some of
    which are given a class that does not exist, C + 1; a text's area under the margin (AUM) is the mean of
    z_y - max_{c != y} z_c on its strong view over the probe's steps. Texts whose AUM does not exceed a percentile of
    the made-up labels' AUM are dropped. A new student, the next teacher, is trained on the others, including those
    with made-up labels, under their real ones.

    Args:
        task: Number of classes, networks and unlabelled texts.
        tau: Confidence of the teacher that a text's label must exceed.
        percentile: Percentile of the made-up labels' AUM that a text's AUM must exceed to be kept.
        rounds: Number of rounds within the given number of steps.
        teacher_share: Share of all steps that the first teacher is trained for.
        probe_share: Share of each round's steps that its probe is trained for.
        labeled_weight: Weight of L_s in L = labeled_weight L_s + unlabeled_weight L_u after the first teacher.
    """

    reference = "Sosea and Caragea 2022, EMNLP Findings"
    rule = (
        "rounds: texts with max p > tau get their label, some the class C + 1; keep those whose mean margin z_y -"
        " max z_c exceeds a percentile of the latter's; a new network learns the labels and the kept texts' "
        "strong views, half and half"
    )
    unverified = (
        "The number of rounds is fixed, to fit the given steps. In the published code rounds go on, up to 100, and the "
        "best model on dev so far teaches; here the last student does, and dev chooses among all steps at the end. "
        "Students start from the same weights each time, there with a new head each; and the first teacher is one, not "
        "the better of two. Students have C outputs, there C + 1, one of them for nothing."
    )
    chooses = True
    extra_classes = 1
    in_rounds = True
    notes_losses = True

    label: Tensor  # (N, M), the teacher's labels
    kept: Tensor  # (N, M) bool, whether the text is taught
    made_up: Tensor  # (N, M) bool, whether the probe is taught class C instead
    margins: Tensor  # (N, M), summed over the probe's visits
    visits: Tensor  # (N, M)
    texts: Tensor  # (M,), in random order, those taught to some network first
    num_texts: Tensor  # (), how many of those there are

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.9,
        percentile: Fraction = 0.5,
        rounds: AtLeastOne = 2,
        teacher_share: Fraction = 0.2,
        probe_share: Fraction = 0.4,
        labeled_weight: NonNegative = 0.5,
        unlabeled_weight: NonNegative = 0.5,
        **common: Any,
    ) -> None:
        super().__init__(task, unlabeled_weight=unlabeled_weight, **common)
        self.tau, self.percentile, self.labeled_weight = tau, percentile, labeled_weight
        self.schedule = rounds, teacher_share, probe_share
        of_networks = (task.num_networks, task.pool_size)
        for name, dtype in {"label": torch.long, "kept": torch.bool, "made_up": torch.bool}.items():
            self.register_buffer(name, torch.zeros(of_networks, dtype=dtype))
        for name in ("margins", "visits"):
            self.register_buffer(name, torch.zeros(of_networks))
        self.register_buffer("texts", torch.arange(task.pool_size))
        self.register_buffer("num_texts", torch.zeros((), dtype=torch.long))

    def phase(self, step: Step) -> range:
        return next(steps for steps in self._phases(step) if step.number in steps)

    def begin_phase(self, pool_logits: Tensor, step: Step) -> None:
        draw = generator(self.task.seed, "aumst", step.number)
        if self._is_probe(step):
            confidence, label = pool_logits.softmax(-1).max(-1)
            self.label.copy_(label)
            self.kept.copy_(confidence > self.tau)
            sure = self.kept.sum(-1)
            draws = torch.from_numpy(draw.random(self.kept.shape)).to(label.device)
            self.made_up.copy_(random_share(self.kept, draws, (sure // self.task.num_classes).minimum(sure // 4)))
            self.margins.zero_()
            self.visits.zero_()
        else:
            aum = self.margins / self.visits  # NaN for a text the probe never saw, which exceeds no cut
            cut = percentile_cut(aum, self.made_up & (self.visits > 0), self.percentile)
            self.kept &= self.made_up | (aum > cut)
        order = torch.from_numpy(draw.permutation(len(self.texts))).to(self.texts.device)
        taught = self.kept.any(0)
        self.texts.copy_(order[taught[order].long().argsort(descending=True, stable=True)])
        self.num_texts.copy_(taught.sum())

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        if step.number in self._phases(step)[0]:
            label = weak_logits[..., : self.task.num_classes].argmax(-1)
            nothing = torch.zeros_like(label, dtype=torch.bool)
            return PseudoLabels(label, nothing, uniform(nothing))
        size = weak_logits.shape[-2]
        before = step.batch - self.phase(step).start * step.turns
        rows = in_turn(self.texts, self.num_texts, before * size, size)
        made_up = self.made_up[:, rows] & self._is_probe(step)
        kept = self.kept[:, rows]
        return PseudoLabels(self.label[:, rows].masked_fill(made_up, self.task.num_classes), kept, uniform(kept), rows)

    def supervised_loss(self, logits: Tensor, y: Tensor, step: Step) -> Tensor:
        weight = 1.0 if step.number in self._phases(step)[0] else self.labeled_weight
        return weight * super().supervised_loss(self._outputs(logits, step), y, step)

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        if labels.rows is not None and self._is_probe(step):
            counted = labels.selected.float()
            self.margins.index_add_(1, labels.rows, counted * margin(strong_logits.detach(), labels.targets))
            self.visits.index_add_(1, labels.rows, counted)
        return self.unlabeled_weight * consistency(self._outputs(strong_logits, step), labels)

    def _outputs(self, logits: Tensor, step: Step) -> Tensor:
        """Logits without the made-up class, which only the probe has."""
        return logits if self._is_probe(step) else logits[..., : self.task.num_classes]

    def _phases(self, step: Step) -> tuple[range, ...]:
        return round_phases(step.total, *self.schedule)

    def _is_probe(self, step: Step) -> bool:
        return self._phases(step).index(self.phase(step)) % 2 == 1
