"""Replacement of words by their WordNet synonyms."""

from __future__ import annotations

import re
from bisect import bisect
from functools import cached_property
from itertools import accumulate

import numpy as np

from jointmatch.augment.base import AUGMENTERS, WordAugmenter
from jointmatch.augment.casing import cased_like
from jointmatch.augment.wordnet.inflection import takes_an
from jointmatch.augment.wordnet.reader import Reader
from jointmatch.augment.wordnet.source import find
from jointmatch.augment.wordnet.store import load
from jointmatch.augment.wordnet.thesaurus import Thesaurus
from jointmatch.errors import MissingExtraError

_SPACE = re.compile(r"(\s+)")


_READERS: dict[str, Reader] = {}


def _reader(thesaurus: Thesaurus) -> Reader:
    """Return the reader of a thesaurus, shared so that augmenters profit from each other's look-ups."""
    if thesaurus.digest not in _READERS:
        _READERS[thesaurus.digest] = Reader(thesaurus)
    return _READERS[thesaurus.digest]


@AUGMENTERS.register("synonym")
class Synonym(WordAugmenter):
    """Replace a share of all words by synonyms: first the words with the best ones, others as far as it takes.

    Whitespace, punctuation and casing are kept, and so is the inflection as far as rules can tell.
    Texts in languages other than English stay as they are.
    """

    version = 3
    default_rate = 0.3
    needs = "English texts, WordNet 3.0"

    def missing(self) -> str | None:
        try:
            find()
        except MissingExtraError as error:
            return str(error)
        return None

    @cached_property
    def reader(self) -> Reader:
        """The thesaurus with everything looked up in it so far, loaded at first use."""
        return _reader(load())

    @property
    def key(self) -> str:
        """The key; the data counts as a setting too."""
        found = self.missing() is None
        return f"{self}:{load().digest[:12]}@{self.version}" if found else f"{self}@{self.version}"

    def _view(self, text: str, rng: np.random.Generator) -> str:
        if self.rate == 0:
            return text
        pieces = _SPACE.split(text)
        words = [i for i, piece in enumerate(pieces) if piece and not piece.isspace()]
        changed = self.change([pieces[i] for i in words], rng)
        for i, word in zip(words, changed, strict=True):
            pieces[i] = word
        return "".join(pieces)

    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        if len(units) < 2:
            return units
        found = self.reader(units)
        eligible = [i for i, (_, synonyms) in enumerate(found) if synonyms]
        draws = rng.random(2 * len(eligible)).tolist()  # the same number for every rate, so that views stay comparable
        order = sorted(range(len(eligible)), key=lambda which: (found[eligible[which]].level, draws[which]))
        changed = list(units)
        for which in order[: round(self.rate * len(units))]:
            i = eligible[which]
            word = self.reader.lexicon[units[i]]
            synonym = _drawn(found[i].synonyms, draws[len(eligible) + which])
            changed[i] = word.with_core(cased_like(word.core, synonym))
            if i and units[i - 1].lower() in ("a", "an"):
                changed[i - 1] = _article(units[i - 1], word.core, synonym)
        return changed


def _drawn(synonyms: dict[str, float], draw: float) -> str:
    sums = list(accumulate(synonyms.values()))
    return list(synonyms)[min(bisect(sums, draw * sums[-1]), len(sums) - 1)]


def _article(article: str, before: str, now: str) -> str:
    """Return the article that the new word takes, unless the text broke the rule for the old one."""
    if takes_an(before) != (article.lower() == "an") or takes_an(before) == takes_an(now):
        return article
    return cased_like(article, "an") if takes_an(now) else article[0]
