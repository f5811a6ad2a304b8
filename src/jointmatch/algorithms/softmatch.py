"""SoftMatch (Chen et al., 2023), https://arxiv.org/abs/2301.10921."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor, nn

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.composed import Composed
from jointmatch.schema import Fraction, Positive
from jointmatch.selection import Alignment, FixedThreshold, GaussianWeight
from jointmatch.types import Step, Task


@ALGORITHMS.register("softmatch")
class SoftMatch(Composed):
    """Use every text, with less weight the further its confidence lies below the mean.

    Args:
        task: Number of classes and networks.
        momentum: Momentum of the running mean and variance of the confidence, and of the class mean.
        sigmas: Divisor of the running deviation; larger is stricter.
        weight_alignment: ``uniform``: read confidence as if classes were equally frequent; ``none``: as predicted.
    """

    reference = "Chen et al. 2023, ICLR"
    rule = (
        "L_u = mean w H(argmax q, Q), w = exp(-min(max q' - mu, 0)^2 / (2 var / 4)), q' = q / its running mean, "
        "normalised; mu, var running mean and variance of max q'"
    )

    def __init__(
        self,
        task: Task,
        *,
        momentum: Fraction = 0.999,
        sigmas: Positive = 2.0,
        weight_alignment: Literal["uniform", "none"] = "uniform",
        **common: Any,
    ) -> None:
        super().__init__(task, **common)
        shape = (task.num_classes, task.num_networks)
        self.threshold = FixedThreshold(0.0, *shape)
        even = (1.0,) * task.num_classes
        self.aligned = Alignment(even, *shape, momentum) if weight_alignment == "uniform" else nn.Identity()
        self.gaussian = GaussianWeight(*shape, momentum, sigmas)

    def trust(self, probs: Tensor, step: Step) -> Tensor:
        """Weight by the aligned confidence; the label is still that of the prediction itself."""
        return self.gaussian(self.aligned(probs))
