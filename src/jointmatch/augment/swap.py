"""Random swaps of words."""

from __future__ import annotations

import numpy as np

from jointmatch.augment.base import AUGMENTERS, WordAugmenter


@AUGMENTERS.register("swap")
class Swap(WordAugmenter):
    """Swap two random words, as often as changes about ``rate`` of them (at least once)."""

    version = 2

    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        if len(units) < 2 or self.rate == 0:
            return units
        swapped = list(units)
        times = max(1, round(self.rate * len(units) / 2))
        first, others = rng.integers(len(units), size=times), rng.integers(1, len(units), size=times)
        for i, further in zip(first.tolist(), others.tolist(), strict=True):
            j = (i + further) % len(units)  # never i itself
            swapped[i], swapped[j] = swapped[j], swapped[i]
        return swapped
