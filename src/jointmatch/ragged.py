"""Rows of different lengths laid end to end: where each begins, and where in its row everything stands."""

from __future__ import annotations

import numpy as np


def starts(counts: np.ndarray) -> np.ndarray:
    """(B,) where rows of so many begin."""
    return np.cumsum(counts) - counts


def within(counts: np.ndarray) -> np.ndarray:
    """(sum of counts,) the place of each in its own row: 2 and 3 give 0 1 0 1 2."""
    return np.arange(counts.sum()) - np.repeat(starts(counts), counts)
