"""MarginMatch (Sosea and Caragea, 2023), https://arxiv.org/abs/2308.09037."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS, Algorithm
from jointmatch.schema import AtLeastOne, Fraction
from jointmatch.selection import CurriculumThreshold, RunningMargins, VirtualTexts, confident, pseudo_margins
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("marginmatch")
class MarginMatch(Algorithm):
    """FlexMatch on texts whose label has, over time, led the others by more than an arbitrary label would.

    A text's pseudo-margin for its label, averaged over all its visits, must reach a cut. The cut comes from pool texts
    that are taught a class that does not exist, and takes effect at the next draw of such texts.
    Probabilities, and with them labels and FlexMatch's thresholds, cover the C classes; margins cover all C + 1.

    Args:
        task: Number of classes, networks and unlabelled texts.
        tau: FlexMatch's threshold of the class learnt best.
        warm_up: Whether FlexMatch's thresholds stay low until most texts have been confidently assigned a class.
        smoothing: d, in APM <- d / (1 + t) PM + (1 - d / (1 + t)) APM at a text's visit t, counted from 0.
        percentile: Percentile of the virtual class's margins, on the texts taught it, that is the cut.
        virtual_share: Share of the pool taught the virtual class at a time.
        virtual_draws: Number of times these texts are drawn.
        virtual_begin: Share of the training before the first draw, with FlexMatch alone.
        virtual_end: Share of the training after which no text is taught the virtual class and the cut stays fixed.
    """

    reference = "Sosea and Caragea 2023, CVPR"
    rule = (
        "L_u = mean 1[max q >= FlexMatch's tau(y)] 1[running margin of y >= cut] H(y, Q), cut = a percentile of "
        "the margins of texts taught a class that does not exist"
    )
    unverified = (
        "Published for images and 1,048,576 steps, with 17 draws of images that are met 448 times each: how often to "
        "draw in a short training is ours. The 95th percentile is the paper's; its code divides by 100 twice. "
        "There the margin is that of the likeliest of C + 1 classes, the second largest logit is never below 0, "
        "virtual texts weigh as the share of all that pass, and the cut is taken anew every 200 steps; here these are "
        "the paper's formulas, and the cut is the last draw's."
    )
    extra_classes = 1

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.95,
        warm_up: bool = True,
        smoothing: Fraction = 0.997,
        percentile: Fraction = 0.95,
        virtual_share: Fraction = 0.01,
        virtual_draws: AtLeastOne = 5,
        virtual_begin: Fraction = 0.08,
        virtual_end: Fraction = 0.9,
        **common: Any,
    ) -> None:
        super().__init__(task, **common)
        self.threshold = CurriculumThreshold(tau, task.num_classes, task.num_networks, task.pool_size, warm_up)
        self.margins = RunningMargins(smoothing, task.num_classes + 1, task.num_networks, task.pool_size)
        between = virtual_begin, virtual_end
        self.virtual = VirtualTexts(task, virtual_share, virtual_draws, between, smoothing, percentile)

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        probs = weak_logits[..., : self.task.num_classes].softmax(-1)
        margins = pseudo_margins(weak_logits)
        virtual = self.virtual(margins[..., -1], step)
        self.threshold(probs.masked_fill(virtual.unsqueeze(-1), 0.0), step)  # remembers no label of a virtual text
        label = probs.argmax(-1)
        average = self.margins(margins, step.index, ~virtual).gather(-1, label.unsqueeze(-1)).squeeze(-1)
        kept = confident(probs, self.thresholds()) & (average >= self.virtual.cut) & ~virtual
        share = kept.float().sum(-1, keepdim=True) / (~virtual).sum().clamp(min=1)
        targets = torch.where(virtual, self.task.num_classes, label)
        return PseudoLabels(targets, kept | virtual, torch.where(virtual, share, 1.0))

    def thresholds(self) -> Tensor:
        return self.threshold.current()
