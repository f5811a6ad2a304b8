"""Is a difference real? Both methods saw the same seeds, so their differences per seed are what counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
_ROUNDING = 1e-9  # fractions that differ by less are the same


@dataclass(frozen=True)
class Difference:
    """Mean of a - b over the seeds both have, and an interval that holds the true mean in 95 of 100 such cases."""

    n: int
    mean: float
    low: float
    high: float

    @property
    def is_real(self) -> bool:
        """Whether the interval excludes 0; with two seeds that happen to agree, it says nothing."""
        return (self.low > _ROUNDING or self.high < -_ROUNDING) and (self.n > 2 or self.high - self.low > _ROUNDING)


def paired(a: Mapping[int, float], b: Mapping[int, float], confidence: float = CONFIDENCE) -> Difference | None:
    """Student's t interval of a - b over the common seeds; None for fewer than two."""
    from scipy.stats import t

    differences = np.array([a[seed] - b[seed] for seed in sorted(a.keys() & b.keys())])
    n = len(differences)
    if n < 2:
        return None
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
    reach = float(t.ppf((1 + confidence) / 2, n - 1)) * error
    return Difference(n, mean, mean - reach, mean + reach)
