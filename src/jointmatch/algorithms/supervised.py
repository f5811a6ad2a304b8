"""Plain supervised training: the baseline every other algorithm has to beat."""

from __future__ import annotations

import torch
from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS, Algorithm
from jointmatch.selection import uniform
from jointmatch.types import PseudoLabels, Step


@ALGORITHMS.register("supervised")
class Supervised(Algorithm):
    """Cross-entropy on the labelled texts; the unlabelled ones are never looked at."""

    reference = "no unlabelled text"
    rule = "L = mean H(y, p(x))"
    uses_unlabeled = False

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        label = weak_logits.argmax(-1)
        nothing = torch.zeros_like(label, dtype=torch.bool)
        return PseudoLabels(label, nothing, uniform(nothing))
