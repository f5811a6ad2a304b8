"""Random deletion of words."""

from __future__ import annotations

import numpy as np

from jointmatch.augment.base import AUGMENTERS, WordAugmenter


@AUGMENTERS.register("deletion")
class Deletion(WordAugmenter):
    """Delete each word with probability ``rate``, but never all of them."""

    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        if len(units) < 2:
            return units
        keep = rng.random(len(units)) >= self.rate
        keep[rng.integers(len(units))] = True  # drawn even when not needed, so that draws stay aligned
        return [unit for unit, kept in zip(units, keep.tolist(), strict=True) if kept]
