"""How far a growing weight has grown: 0 to 1, from how much of the way is done."""

import math


def linear_ramp(done: float, length: float) -> float:
    """Grow as done / length; 1 from there on, and where there is no way to go."""
    return min(1.0, done / length) if length else 1.0


def sigmoid_ramp(done: float, length: float) -> float:
    """Grow as exp(-5 (1 - done / length)^2), from 0.0067: slowly, then fast, then slowly; 1 from there on."""
    return math.exp(-5 * (1 - linear_ramp(done, length)) ** 2)
