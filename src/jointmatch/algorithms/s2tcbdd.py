"""S2TC-BDD (Li et al., 2021), https://aclanthology.org/2021.acl-long.391."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.losses import entropy, margin_cross_entropy, mean_over_batch
from jointmatch.schema import Fraction, NonNegative, Positive
from jointmatch.selection import AngleBalance, FixedThreshold, angles_of, uniform
from jointmatch.types import PseudoLabels, Step, Task


@ALGORITHMS.register("s2tcbdd")
class S2TCBDD(Composed):
    """Rescale the angles to class vectors to be equally spread in all classes, then learn with a margin.

    Experimental and unverified: the stated idea, not the authors' method to the letter.

    Args:
        task: Number of classes and networks, and the scale of the cosines.
        margin: Amount subtracted from the right class's cosine, so that it must win by as much.
        momentum: Momentum of the moving averages of the angles' mean and variance.
        entropy_weight: Weight of the entropy of the predictions on unlabelled texts, added to their loss.
        tau: Confidence a pseudo-label must reach.
    """

    reference = "Li et al. 2021, ACL"
    rule = (
        "L_s = H(y, softmax s (cos psi(theta) - m [y])), psi_k(theta) = a_k theta + b_k giving every class's "
        "angles the same variance; L_u the same with sharpened q as target, plus the entropy of Q"
    )
    unverified = (
        "experimental: neither paper nor code was at hand. From others' summaries: psi_k(theta) = a_k theta + b_k with "
        "a_k = sigma / sigma_k and sigma^2 the mean of all sigma_k^2. From memory: the margin on the cosine, the means "
        "kept, averages over labelled and pseudo-labelled texts, soft targets sharpened with T 0.5, the entropy term. "
        "Ours: the numbers of margin and momentum, how rare classes' variances are steadied, one view for the target. "
        "Predictions are of the plain cosines: the rescaling is training's own."
    )
    requires = {"network": {"head": "cosine"}}  # noqa: RUF012
    notes_losses = True

    def __init__(
        self,
        task: Task,
        *,
        margin: NonNegative = 0.01,
        momentum: Fraction = 0.99,
        entropy_weight: NonNegative = 1.0,
        tau: Fraction = 0.0,
        targets: Literal["hard", "soft"] = "soft",
        temperature: Positive = 0.5,
        **common: Any,
    ) -> None:
        super().__init__(task, targets=targets, temperature=temperature, **common)
        self.margin, self.entropy_weight = margin, entropy_weight
        self.threshold = FixedThreshold(tau, task.num_classes, task.num_networks)
        self.balance = AngleBalance(task.num_classes, task.num_networks, momentum)

    def balanced(self, logits: Tensor) -> Tensor:
        """Logits of the rescaled angles: (N, B, C) -> (N, B, C)."""
        return self.task.cosine_scale * self.balance(self._angles(logits)).cos()

    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        labels = super().pseudo_label(self.balanced(weak_logits), step)
        self.balance.see(self._angles(weak_logits), _ids(labels.targets), labels.selected.float())
        self.balance.update()
        return labels

    def supervised_loss(self, logits: Tensor, y: Tensor, step: Step) -> Tensor:
        targets = y if y.is_floating_point() else y.expand(len(logits), -1)
        ids = _ids(targets)
        self.balance.see(self._angles(logits), ids, uniform(ids))
        return self._margin_loss(self.balanced(logits), targets).mean(-1)

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        logits = self.balanced(strong_logits)
        per_text = self._margin_loss(logits, labels.targets.detach()) + self.entropy_weight * entropy(logits)
        return self.weight_at(step) * mean_over_batch(per_text, labels)

    def _angles(self, logits: Tensor) -> Tensor:
        return angles_of(logits / self.task.cosine_scale)

    def _margin_loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        return margin_cross_entropy(logits, targets, self.task.cosine_scale * self.margin)


def _ids(targets: Tensor) -> Tensor:
    """Class ids (N, B): ids as they are, or the most likely class of each distribution."""
    return targets.argmax(-1) if targets.is_floating_point() else targets
