"""Determine which words of a text may be replaced, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jointmatch.augment.wordnet.compounds import Compounds
from jointmatch.augment.wordnet.function_words import SPARED
from jointmatch.augment.wordnet.grammar import plausibility
from jointmatch.augment.wordnet.inflection import Inflector
from jointmatch.augment.wordnet.levels import LEVELS
from jointmatch.augment.wordnet.lexicon import Entry, Lexicon, Reading, Word
from jointmatch.augment.wordnet.thesaurus import Thesaurus

_NEAR_BEST = 0.5  # the least weight of a synonym that is used, relative to the best one
_COMMON = 5  # a verb seen this often is assumed to have all its forms
_ENGLISH = 0.55  # the share of known words above which a text is taken for English


class Found(NamedTuple):
    """The inflected synonyms of a word in context, with their weights; none if the word is better left alone."""

    level: int
    synonyms: dict[str, float]


_NOTHING = Found(0, {})


class Reader:
    """Finds the synonyms of every word of a text, inflected like the word and fitting its context."""

    def __init__(self, thesaurus: Thesaurus) -> None:
        self.thesaurus = thesaurus
        self.lexicon = Lexicon(thesaurus)
        self.inflect = Inflector(thesaurus.special)
        self.compounds = Compounds(thesaurus.compounds)
        self._found: dict[tuple[str, str, str, bool], Found] = {}

    def __call__(self, units: Sequence[str]) -> list[Found]:
        """Return what was found for each word of one text."""
        words = [self.lexicon[unit] for unit in units]
        found = [_NOTHING] * len(words)
        if not _english(words):
            return found
        shouted = sum(w.core.isupper() for w in words if len(w.core) > 1) * 2 > len(words)
        joined = self.compounds(words)
        for i, word in enumerate(words):
            if word.core and word.low not in SPARED and i not in joined:
                found[i] = self._in_place(words, i, shouted)
        return found

    def _in_place(self, words: list[Word], i: int, shouted: bool) -> Found:
        """Return the synonyms of one word between its neighbours; none if its capital suggests a name."""
        word, following = words[i], words[i + 1] if i + 1 < len(words) else None
        starts = i == 0 or words[i - 1].ends
        capital = not shouted and not word.core.islower()
        if capital and not (starts and word.core.istitle()):
            return _NOTHING
        if capital and following is not None and following.core[:1].isupper():
            return _NOTHING  # a name of two words, or a headline
        before = "start" if starts else words[i - 1].as_before
        behind = "end" if following is None or word.breaks else following.as_behind
        place = (word.low, before, behind, capital)
        found = self._found.get(place)
        if found is None:
            found = self._found[place] = self._weigh(*place)
        return found

    def _weigh(self, form: str, before: str, behind: str, capital: bool) -> Found:
        """Return the synonyms that fit here, from the strictest level that has any."""
        entry = self.lexicon.entry(form)
        if not any(self.thesaurus.words[name][kind[0]][1] for kind, name, _ in entry.readings):
            return _NOTHING
        weighed = [(kind, name, n * plausibility(kind, before, behind)) for kind, name, n in entry.readings]
        total = sum(weight for _, _, weight in weighed)
        if capital and max(weighed, key=lambda w: w[2])[0] == ("n", "base"):
            return _NOTHING  # "Apple said": just as likely a name
        readings = [(kind, name, weight / total) for kind, name, weight in weighed]
        for number, level in enumerate(LEVELS):
            good = self._good(entry, readings, number, behind)
            least = max(level.good, _NEAR_BEST * max(good.values(), default=0.0))
            good = {word: weight for word, weight in good.items() if weight >= least}
            if good:
                return Found(number, good)
        return _NOTHING

    def _good(self, entry: Entry, readings: list[Reading], number: int, behind: str) -> dict[str, float]:
        """Return inflected synonym -> weight, at one level."""
        level, seen = LEVELS[number], self.thesaurus.seen
        good: dict[str, float] = {}
        shares: dict[str, float] = {}
        for kind, name, share in readings:
            levels = self.thesaurus.words[name][kind[0]][1]
            if not levels or (kind[0] == "v" and behind == "governed" and not level.bold):
                continue
            for synonym, strength in levels[number].items():
                word = self.inflect(synonym, kind)
                if word is None or synonym in entry.bases or word in SPARED:
                    continue
                if word in seen or (level.bold and kind[0] == "v" and seen.get(synonym, 0) >= _COMMON):
                    good[word] = good.get(word, 0.0) + strength * share
                    shares[word] = shares.get(word, 0.0) + share
        return {word: weight for word, weight in good.items() if shares[word] >= level.sure}


def _english(words: Sequence[Word]) -> bool:
    known = sum(word.english is True for word in words)
    unknown = sum(word.english is False for word in words)
    return known > _ENGLISH * (known + unknown)
