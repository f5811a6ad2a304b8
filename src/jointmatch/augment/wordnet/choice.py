"""Determine which words that share a meaning can replace each other, and how well."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jointmatch.augment.wordnet.database import Senses, Synset
from jointmatch.augment.wordnet.function_words import SPARED
from jointmatch.augment.wordnet.inflection import Exceptions, lemmas
from jointmatch.augment.wordnet.levels import Level

_SIMILAR = 0.5  # the weight of a wider adjective, relative to a synonym
_NEAR = 0.45  # below this, two of three read badly in kinds of text other than those the list was made with
_READ = 1.0  # the closeness of a synonym that somebody has read in place of the word and found good
_READ_SHARED = 0.05  # the least that such a pair counts as having in common: WordNet's counts are from the 1960s
_ALMOST = 0.75  # keep a synonym from this share of a good one's strength: two readings of a word may add up to one

Closeness = Callable[[str, str], float]


@dataclass
class Common:
    """How much two words have in common, as shares of the uses of one of them."""

    same: float = 0.0  # the share in which both mean the same
    kin: float = 0.0  # the share in which one has a meaning a step wider or narrower

    def at(self, level: Level) -> float:
        """Return the share that counts at this level."""
        return self.same + level.kin * self.kin


@dataclass
class Choice:
    """Finds the synonyms of a lemma and their strength at every level."""

    senses: Senses
    synsets: Mapping[str, Mapping[str, Synset]]
    irregular: Exceptions
    common: Mapping[str, float]
    close: Closeness
    levels: Sequence[Level]

    def __post_init__(self) -> None:
        self._plain = cache(self._plain)  # type: ignore[method-assign]

    def synonyms(self, lemma: str, pos: str) -> list[dict[str, float]]:
        """Return synonym -> strength for each level; an empty list if no level has any.

        Strength grows with how much of the word's meaning the synonym covers and vice versa, how
        common the synonym is as this part of speech and in general, and how close to the word an
        encoder finds it.
        """
        meant = self._meant(lemma, pos)
        found: list[dict[str, float]] = [{} for _ in self.levels]
        for word, there in meant.items():
            back, usual, close = self._meant_back(lemma, word, pos), self._usual(word, pos), self.close(lemma, word)
            if close < _NEAR:
                continue
            for level, strengths in zip(self.levels, found, strict=True):
                shared = there.at(level) * back.at(level) * usual * min(1.0, self.common[word] / level.familiar)
                if close == _READ:
                    shared = max(shared, _READ_SHARED) if level.bold else 0.0
                strength = math.sqrt(shared) * (close - level.far)
                if strength >= _ALMOST * level.good:
                    strengths[word] = round(strength, 3)
        return found if any(found) else []

    def _usual(self, word: str, pos: str) -> float:
        """Return the share of a word's uses as this part of speech: "companion" is seldom a verb."""
        uses = {p: sum(count for count, _ in self.senses[word, p].values()) for p in "nvar" if (word, p) in self.senses}
        return uses[pos] / sum(uses.values())

    def _meant(self, lemma: str, pos: str) -> dict[str, Common]:
        """Return plain word -> the share of the lemma's uses in which it can replace the lemma."""
        meant: dict[str, Common] = defaultdict(Common)
        if lemma in SPARED:
            return meant
        for offset, (_, share) in self.senses[lemma, pos].items():
            own = self.synsets[pos][offset]
            position = own.positions[own.words.index(lemma)]
            for place in (offset, *own.similar):
                for word in self._fit(lemma, pos, place, position):
                    meant[word].same += share if place == offset else share * _SIMILAR
            for place in own.kin:
                for word in self._fit(lemma, pos, place, position):
                    meant[word].kin += share if self.close(lemma, word) == _READ else 0.0
        return meant

    def _meant_back(self, lemma: str, word: str, pos: str) -> Common:
        """Return the share of the word's uses in which the lemma can replace it."""
        own = self.senses[lemma, pos]
        similar = {place for offset in own for place in self.synsets[pos][offset].similar}
        kin = {place for offset in own for place in self.synsets[pos][offset].kin}
        back = Common()
        for offset, (_, share) in self.senses[word, pos].items():
            if offset in own or offset in similar:
                back.same += share if offset in own else share * _SIMILAR
            elif offset in kin:
                back.kin += share
        return back

    def _fit(self, lemma: str, pos: str, place: str, position: str) -> Iterator[str]:
        """Yield the words of a meaning that are close to the lemma and can stand in the same position."""
        synset = self.synsets[pos][place]
        for word, its_position in zip(synset.words, synset.positions, strict=True):
            close = self.close(lemma, word)
            fits = close and its_position == position and word not in synset.marked and self._plain(word)
            if fits and _skeleton(word) != _skeleton(lemma) and (close == _READ or not _related(word, lemma)):
                yield word

    def _plain(self, word: str) -> bool:
        """Whether this is an ordinary word and not a form of another."""
        if len(word) < 3 or not (word.isascii() and word.isalpha() and word.islower()) or word in SPARED:
            return False
        forms = lemmas(word, self.irregular)
        return not any(
            (name, kind[0]) in self.senses
            for kind in (("n", "plural"), ("v", "ing"))
            for name in forms.get(kind, ())
            if name != word
        )


def _related(word: str, lemma: str) -> bool:
    """Whether one is derived from the other, as marketplace from market, and so does not count as another word."""
    short, long = sorted((word, lemma), key=len)
    return long.startswith(short) or (len(short) > 5 and long.startswith(short[:-2]))


def _skeleton(word: str) -> str:
    """Return a key shared by spellings of one word: organise and organize, theater and theatre, defence and defense."""
    return word[0] + re.sub(r"(.)\1", r"\1", re.sub(r"[aeiouy]", "", word[1:].replace("c", "s").replace("z", "s")))
