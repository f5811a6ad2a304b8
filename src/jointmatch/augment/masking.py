"""Masking of words with the backbone's mask token."""

from __future__ import annotations

import numpy as np

from jointmatch.augment.base import AUGMENTERS, Surroundings, WordAugmenter


@AUGMENTERS.register("masking")
class Masking(WordAugmenter):
    """Replace each word by the mask token with probability ``rate``, but never all of them."""

    reads_backbone = True
    mask_token = "[MASK]"  # noqa: S105 - a word of the vocabulary, no secret

    def prepare(self, surroundings: Surroundings) -> None:
        self.mask_token = surroundings.mask_token or self.mask_token

    @property
    def key(self) -> str:
        """The key; the mask token counts as a setting too."""
        return f"{self}:{self.mask_token}@{self.version}"

    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        if len(units) < 2:
            return units
        masked = rng.random(len(units)) < self.rate
        masked[rng.integers(len(units))] = False
        return [self.mask_token if hidden else unit for unit, hidden in zip(units, masked.tolist(), strict=True)]
