"""What changes with the share of the training that is done, from 0 at the first step towards 1."""

from math import exp
from typing import Literal


def linear_ramp(progress: float, share: float) -> float:
    """From 0 to 1 over the first ``share`` of the training; 1 all along where that is 0."""
    return min(progress / share, 1.0) if share else 1.0


def signal_level(progress: float, schedule: Literal["none", "linear", "log", "exp"], num_classes: int) -> float:
    """UDA's eta, rising from 1/C to 1: labelled texts likelier than this are left out for now. ``none`` is 1."""
    if schedule == "none":
        return 1.0
    alpha = {"linear": progress, "log": 1 - exp(-5 * progress), "exp": exp(5 * (progress - 1))}[schedule]
    return alpha * (1 - 1 / num_classes) + 1 / num_classes
