"""Span cut-off: a stretch of the text is left out."""

from __future__ import annotations

import numpy as np

from jointmatch.augment.base import AUGMENTERS, WordAugmenter


@AUGMENTERS.register("cutoff")
class Cutoff(WordAugmenter):
    """Leave out one stretch of about ``rate`` of the words, but never all (span cut-off, Shen et al. 2020)."""

    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        if len(units) < 2 or self.rate == 0:
            return units
        length = min(max(1, round(self.rate * len(units))), len(units) - 1)
        start = int(rng.integers(len(units) - length + 1))
        return units[:start] + units[start + length :]
