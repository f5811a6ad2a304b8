"""Augmenters that drop or move words: a view is then a list of word positions in its text.

Many texts can thus be processed at once, as numbers, and a caller that knows the words' tokens can reorder those
instead.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jointmatch.augment.base import RatedAugmenter, split_units
from jointmatch.augment.combine import Chain
from jointmatch.augment.nothing import Dropout, Nothing
from jointmatch.ragged import starts, within


@dataclass(frozen=True)
class Places:
    """Which words make up each of B views, in order, view after view."""

    values: np.ndarray  # (sum of counts,) positions of the words in the text itself
    counts: np.ndarray  # (B,) number of words in each view

    @classmethod
    def whole(cls, counts: np.ndarray) -> Places:
        """Return every word in its own place, for texts with ``counts`` words."""
        return cls(within(counts), counts)

    @property
    def starts(self) -> np.ndarray:
        """(B,) where each view begins."""
        return starts(self.counts)

    def each(self) -> list[list[int]]:
        """Return the words of each view."""
        return [part.tolist() for part in np.split(self.values, self.starts[1:])] if len(self.counts) else []


Order = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From the number of words in each text to the positions taken, text after text, and how many there are of each."""


class Reordering(RatedAugmenter):
    """Makes a view of the text's own words, or of its characters if the script has no spaces."""

    @abstractmethod
    def rearrange(self, places: Places, rng: np.random.Generator) -> Places:
        """Choose and order the words of many views at once."""

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        if self.rate == 0:
            return list(texts)

        def order(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            places = self.rearrange(Places.whole(counts), rng)
            return places.values, places.counts

        return reordered(texts, order)


def reordered(texts: Sequence[str], order: Order) -> list[str]:
    """Select and reorder the words of each text, or its characters if the script has no spaces."""
    split = [split_units(text) for text in texts]
    chosen = Places(*order(np.array([len(units) for units, _ in split], dtype=np.int64))).each()
    triples = zip(texts, split, chosen, strict=True)
    return [joint.join([units[i] for i in own]) or text for text, (units, joint), own in triples]


def reorderings_of(augmenter: Any) -> list[Reordering] | None:
    """Return an augmenter's steps, in order, if all it does is reorder; None if it does more."""
    parts = augmenter.parts if isinstance(augmenter, Chain) else [augmenter]
    active = [part for part in parts if not isinstance(part, Nothing | Dropout)]
    reorderings = [part for part in active if isinstance(part, Reordering)]
    return [part for part in reorderings if part.rate] if len(reorderings) == len(active) else None


def spaced_words(text: str) -> list[str] | None:
    """Return what reorderings treat as the words of a text, or None if the script has no spaces."""
    units, joint = split_units(text)
    return units if joint else None
