"""Ramps for weights and limits that grow, by how much of the way is done."""

import math
from typing import Literal


def linear_ramp(done: float, length: float) -> float:
    """Grow as done / length, up to 1; always 1 if ``length`` is 0."""
    return min(1.0, done / length) if length else 1.0


def sigmoid_ramp(done: float, length: float) -> float:
    """Grow as exp(-5 (1 - done / length)^2), from 0.0067: slowly, then fast, then slowly; 1 from there on."""
    return math.exp(-5 * (1 - linear_ramp(done, length)) ** 2)


def signal_level(progress: float, schedule: Literal["none", "linear", "log", "exp"], num_classes: int) -> float:
    """UDA's eta, rising from 1/C to 1; labelled texts more probable than it do not count until then. ``none``: 1."""
    if schedule == "none":
        return 1.0
    alpha = {"linear": progress, "log": 1 - math.exp(-5 * progress), "exp": math.exp(5 * (progress - 1))}[schedule]
    return alpha * (1 - 1 / num_classes) + 1 / num_classes
