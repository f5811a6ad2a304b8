"""A text in which some words are gaps to be filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jointmatch.augment.base import split_units
from jointmatch.augment.casing import cased_like
from jointmatch.augment.punctuation import split_punctuation


@dataclass(frozen=True)
class Gapped:
    """A text's words, which of them are gaps, and a number from 0 to 1 for each gap, with which its word is drawn."""

    units: list[str]
    joint: str
    gaps: list[int]
    draws: list[float]

    @property
    def words(self) -> list[str]:
        """The original words of the gaps, without punctuation."""
        return [split_punctuation(self.units[i])[1] for i in self.gaps]

    def masked(self, token: str) -> tuple[str, list[int]]:
        """Return the text with ``token`` in the gaps, and the character at which each one starts."""
        pieces, starts, length = [], [], 0
        gaps = set(self.gaps)
        for i, unit in enumerate(self.units):
            piece = unit
            if i in gaps:
                lead, _, tail = split_punctuation(unit)
                piece = lead + token + tail
                starts.append(length + len(lead))
            pieces.append(piece)
            length += len(piece) + len(self.joint)
        return self.joint.join(pieces), starts

    def filled(self, words: Sequence[str | None]) -> str:
        """Return the text with these words in the gaps, cased like the originals; None leaves a word unchanged."""
        units = list(self.units)
        for i, word in zip(self.gaps, words, strict=True):
            if word is not None:
                lead, core, tail = split_punctuation(units[i])
                units[i] = lead + cased_like(core, word) + tail
        return self.joint.join(units)


def make_gaps(text: str, rate: float, rng: np.random.Generator) -> Gapped:
    """Turn about ``rate`` of the words into gaps (at least one, never all); punctuation alone is not a word."""
    units, joint = split_units(text)
    eligible = [i for i, unit in enumerate(units) if split_punctuation(unit)[1]]
    count = min(max(1, round(rate * len(eligible))), len(eligible) - 1) if len(eligible) > 1 and rate else 0
    order = rng.permutation(len(eligible))[:count]
    return Gapped(units, joint, sorted(eligible[i] for i in order.tolist()), rng.random(count).tolist())
