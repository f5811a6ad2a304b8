"""Rows of different lengths laid end to end: where each begins, and the position of each element in its row."""

from __future__ import annotations

import numpy as np


def starts(counts: np.ndarray) -> np.ndarray:
    """Return where rows of these lengths begin: (B,)."""
    return np.cumsum(counts) - counts


def within(counts: np.ndarray) -> np.ndarray:
    """Return the position of each element in its own row, (sum of counts,): 2 and 3 give 0 1 0 1 2."""
    return np.arange(counts.sum()) - np.repeat(starts(counts), counts)


def few_sizes(rows: int) -> int:
    """Return the number that rows are padded to a multiple of on a CPU, which leaves eight sizes per doubling.

    oneDNN keeps more than a megabyte for every matrix size it has met, and batches come in thousands of sizes.
    """
    return max(16, 1 << max(rows.bit_length() - 4, 0))


def filled_up(rows: int, grain: int) -> int:
    """Round up to a multiple of ``grain``."""
    return -(-rows // grain) * grain
