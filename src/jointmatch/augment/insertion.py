"""Random insertion of words."""

from __future__ import annotations

import numpy as np

from jointmatch.augment.base import AUGMENTERS, WordAugmenter


@AUGMENTERS.register("insertion")
class Insertion(WordAugmenter):
    """Put further copies of the text's own words at random places, about ``rate`` of them (at least one)."""

    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        if len(units) < 2 or self.rate == 0:
            return units
        # The text's own words and not the corpus', though both were at hand: those come from other classes too, and
        # evidence of another class is what a view that keeps its label must not get.
        count = max(1, round(self.rate * len(units)))
        places = np.sort(rng.integers(len(units) + 1, size=count))
        words = [units[i] for i in rng.integers(len(units), size=count).tolist()]
        return np.insert(np.array(units, dtype=object), places, words).tolist()
