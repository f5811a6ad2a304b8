"""Random deletion of words."""

from __future__ import annotations

import numpy as np

from jointmatch.augment.base import AUGMENTERS
from jointmatch.augment.reordering import Places, Reordering


@AUGMENTERS.register("deletion")
class Deletion(Reordering):
    """Delete each word with probability ``rate``, but never all of them."""

    version = 2

    def rearrange(self, places: Places, rng: np.random.Generator) -> Places:
        several = places.counts >= 2
        keep = (rng.random(len(places.values)) >= self.rate) | np.repeat(~several, places.counts)
        keep[places.starts[several] + rng.integers(places.counts[several])] = True  # one word of each, drawn beforehand
        views = np.repeat(np.arange(len(places.counts)), places.counts)
        return Places(places.values[keep], np.bincount(views[keep], minlength=len(places.counts)))
