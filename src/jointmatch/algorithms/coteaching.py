"""Co-Teaching (Han et al., 2018), https://arxiv.org/abs/1804.06872."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS, Algorithm
from jointmatch.losses import cross_entropy, mean_over
from jointmatch.schema import Fraction, Range
from jointmatch.selection import exchanged, keep_share, uniform
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("coteaching")
class CoTeaching(Algorithm):
    """Each network picks the texts on which its loss is smallest, and the other learns from these.

    The original is supervised, with noisy labels. Here a pool text's noisy label is the class of highest mean
    probability over the networks, the same for all of them; given those labels, the rule is the published one, except
    that the loss is the mean over the texts picked (the published code divides it by their number once more).
    Losses are ranked within one pass: a micro-batch where ``training.accumulate`` is above 1.
    Unverified: see ``unverified``.

    Args:
        task: Number of classes and networks.
        noise: The paper's tau, the share of labels assumed to be wrong; in the end, 1 - noise of the texts are used.
        warmup: The paper's T_k as a share of the training (10 of 200 epochs); the share used falls until then.
    """

    reference = "Han et al. 2018, NeurIPS"
    rule = (
        "L_u^f = mean of H(y, p^f) over the share R of texts where H(y, p^g) is smallest, R = 1 - min(r t / t_k, "
        "r), y = argmax (q^f + q^g)"
    )
    stated: ClassVar = {"pseudo_labelling": False, "cross_labelling": True}
    note = "supervised as published; here its rule works on pseudo-labels"
    unverified = (
        "The original is supervised, with given noisy labels: pseudo-labels of unlabelled texts in their place are our "
        "form of it. The share kept falls step by step, in the published code epoch by epoch."
    )
    networks = fewest = 2
    whole_pool = True
    one_view = True

    def __init__(
        self,
        task: Task,
        *,
        noise: Annotated[float, Range(0, 0.99)] = 0.2,
        warmup: Fraction = 0.05,
        **common: Any,
    ) -> None:
        super().__init__(task, **common)
        self.noise, self.warmup = noise, warmup

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        labels = weak_logits.softmax(-1).mean(0).argmax(-1).expand(weak_logits.shape[:2])
        every = torch.ones_like(labels, dtype=torch.bool)
        return PseudoLabels(labels, every, uniform(every))

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        losses = cross_entropy(strong_logits, labels.targets)
        share = keep_share(self.noise, self.warmup, step.progress)
        picked = self.picked(losses, strong_logits.argmax(-1), share, labels.selected, step)
        return self.weight_at(step) * mean_over(losses, picked)

    def picked(self, losses: Tensor, predicted: Tensor, share: float, among: Tensor, step: Step) -> Tensor:
        """Mask (N, B) of the texts each network learns from, given losses and predicted labels (N, B)."""
        return exchanged(losses, share, among)
