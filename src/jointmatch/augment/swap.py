"""Random swaps of words."""

from __future__ import annotations

import numpy as np

from jointmatch.augment.base import AUGMENTERS
from jointmatch.augment.reordering import Places, Reordering
from jointmatch.ragged import within


@AUGMENTERS.register("swap")
class Swap(Reordering):
    """Swap two random words, as often as changes about ``rate`` of them (at least once)."""

    version = 3

    def rearrange(self, places: Places, rng: np.random.Generator) -> Places:
        values, counts = places.values.copy(), places.counts
        times = np.where(counts >= 2, np.maximum(1, np.round(self.rate * counts / 2)), 0).astype(np.int64)
        views = np.repeat(np.arange(len(counts)), times)
        turns = within(times)
        first = rng.integers(counts[views])
        other = (first + rng.integers(1, counts[views])) % counts[views]  # never the first itself
        one, two = places.starts[views] + first, places.starts[views] + other
        for turn in range(times.max(initial=0)):  # first swaps of all views, then second swaps, and so on
            now = turns == turn
            values[one[now]], values[two[now]] = values[two[now]], values[one[now]]
        return Places(values, counts)
