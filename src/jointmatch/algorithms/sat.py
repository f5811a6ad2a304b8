"""SAT (Chen et al., 2022), https://aclanthology.org/2022.findings-emnlp.456."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.losses import cross_entropy
from jointmatch.schema import Fraction, NonNegative, Positive
from jointmatch.selection import FixedThreshold, ViewRanker, easiest, of_view
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("sat")
class SAT(Composed):
    """A learnt ranker picks the easier of two augmented views to give the label; the other view gets the loss.

    The two are the first two strong views; if there is only one augmenter, it makes both. Labelled texts are learnt
    unchanged.

    Args:
        task: Number of classes and networks.
        tau: Confidence a pseudo-label must exceed.
        ranker_learning_rate: Learning rate of the ranker, which learns on labelled texts which view has the lower loss.
    """

    reference = "Chen et al. 2022, EMNLP Findings"
    rule = (
        "L_u = mean 1[max q_a > tau] H(argmax q_a, Q_b), a the view that a ranker, learnt on labelled texts, "
        "finds easier, b the other"
    )
    unverified = (
        "the published ranker reads hidden vectors (the cosine of the projected vectors of original and view, or a "
        "small network over the original's); ours reads the probabilities of original and views. It is trained with "
        "the loss of the second of these, and together with the networks, where the published one takes its step "
        "before it is used. The defaults are those published for Yahoo!, for AG News tau is 0.9, w_u 0.1 and mu 20. In "
        "the published code a mask of another shape multiplies the loss of every text by the number selected, so its "
        "w_u counts for more than ours."
    )
    num_views = 3
    chooses = True
    learns_views = True
    requires = {"augment": {"weak": "none"}}  # noqa: RUF012 - a view that is learnt with its label would always be easier

    def __init__(
        self,
        task: Task,
        *,
        tau: Fraction = 0.99,
        ranker_learning_rate: Positive = 1e-4,
        unlabeled_weight: NonNegative = 0.5,
        **common: Any,
    ) -> None:
        super().__init__(task, unlabeled_weight=unlabeled_weight, **common)
        self.threshold = FixedThreshold(tau, task.num_classes, task.num_networks, strict=True)
        self.ranker = ViewRanker(self.num_views, task.num_classes, task.num_networks)
        self.learning_rate = ranker_learning_rate

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        easy = 1 + self.ranker(weak_logits).argmax(-1)  # 1 or 2
        labels = super().pseudo_label(of_view(weak_logits, easy), step)
        return replace(labels, views=3 - easy)

    def labeled_views_loss(self, view_logits: Tensor, y: Tensor, step: Step) -> Tensor:
        return cross_entropy(self.ranker(view_logits), easiest(view_logits[1:], y)).mean(-1)
