"""Rows of different lengths laid end to end: where each begins, and where in its row everything stands."""

from __future__ import annotations

import numpy as np


def starts(counts: np.ndarray) -> np.ndarray:
    """(B,) where rows of so many begin."""
    return np.cumsum(counts) - counts


def within(counts: np.ndarray) -> np.ndarray:
    """(sum of counts,) the place of each in its own row: 2 and 3 give 0 1 0 1 2."""
    return np.arange(counts.sum()) - np.repeat(starts(counts), counts)


def few_sizes(rows: int) -> int:
    """What rows are filled up to multiples of on a CPU, so that they come in eight sizes an octave.

    oneDNN keeps more than a megabyte for every size of a product that it has met, and batches come in thousands.
    """
    return max(16, 1 << max(rows.bit_length() - 4, 0))


def filled_up(rows: int, grain: int) -> int:
    """The next multiple of ``grain``."""
    return -(-rows // grain) * grain
