"""PCM (Xu et al., 2022), https://aclanthology.org/2022.naacl-main.219."""

from __future__ import annotations

from typing import Any

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.schema import Fraction
from jointmatch.selection import AgreedThreshold
from jointmatch.types import Task


@ALGORITHMS.register("pcm")
class PCM(Composed):
    """A classifier and a matcher of texts to class words learn the labels they agree on, where both are sure.

    Experimental and unverified: the idea as we understand it, not the authors' method to the letter.

    Args:
        task: Number of classes and networks.
        tau: Confidence both must reach.
    """

    reference = "Xu et al. 2022, NAACL"
    rule = "L_u = mean 1[y^f = y^g, both max q >= tau] H(y, Q), f a classifier, g the cosine with class words"
    unverified = (
        "experimental: the paper was not at hand, and of the authors' repository only a past state with many variants, "
        "none marked as the paper's, which were not followed. The matcher is a network of its own whose "
        "head is the cosine with a vector per class, started at the frozen features of the class's name and of its "
        "labelled texts' typical words (TF-IDF); the paper matches by a small network inside one shared encoder and "
        "finds words by attention. The words are not drawn anew during training: the class vectors are trained "
        "instead. The threshold, the matcher's loss (cross-entropy) and the prediction (the mean of both) are ours; "
        "in one of those variants classes are cut to the smallest one's count and soft targets are learnt."
    )
    networks = fewest = 2
    requires = {"network": {"head_per_network": ("linear", "cosine"), "class_words": 50}}  # noqa: RUF012

    def __init__(self, task: Task, *, tau: Fraction = 0.95, **common: Any) -> None:
        super().__init__(task, **common)
        self.threshold = AgreedThreshold(tau, task.num_classes, task.num_networks)
