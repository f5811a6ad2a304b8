"""Random swaps of words."""

from __future__ import annotations

import numpy as np

from jointmatch.augment.base import AUGMENTERS, WordAugmenter


@AUGMENTERS.register("swap")
class Swap(WordAugmenter):
    """Swap two random words, as often as changes about ``rate`` of them (at least once)."""

    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        if len(units) < 2 or self.rate == 0:
            return units
        swapped = list(units)
        for _ in range(max(1, round(self.rate * len(units) / 2))):
            i, j = rng.choice(len(units), size=2, replace=False).tolist()
            swapped[i], swapped[j] = swapped[j], swapped[i]
        return swapped
