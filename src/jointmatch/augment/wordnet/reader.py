"""Reads the words of a text: which may be replaced, and by what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jointmatch.augment.wordnet.compounds import Compounds
from jointmatch.augment.wordnet.function_words import SPARED
from jointmatch.augment.wordnet.grammar import CLASS_BEFORE, CLASS_BEHIND, plausibility
from jointmatch.augment.wordnet.inflection import Inflector, Kind, lemmas
from jointmatch.augment.wordnet.levels import LEVELS
from jointmatch.augment.wordnet.thesaurus import Thesaurus
from jointmatch.augment.wordnet.tokens import Token

_ENDS = re.compile(r"[.!?:;]\W*$|^-+$")
_NEAR_BEST = 0.5  # the weakest synonym that is used, beside the best one
_COMMON = 5  # a verb seen this often has all its forms
# How a lemma's occurrences spread over its forms, roughly.
_SHARES = {
    ("n", "base"): 0.7,
    ("n", "plural"): 0.3,
    ("v", "base"): 0.35,
    ("v", "third"): 0.1,
    ("v", "past"): 0.25,
    ("v", "participle"): 0.2,
    ("v", "ing"): 0.15,
}
_NONE: tuple[int, dict[str, float]] = (0, {})
_ENGLISH = 0.55  # the share of known words above which a text is taken for English


@dataclass(slots=True)
class Entry:
    """A lower-case form: what it may be, as kind, lemma and how often, likeliest first."""

    readings: list[tuple[Kind, str, float]]
    bases: tuple[str, ...]  # itself and its lemmas


class Reader:
    """Finds the synonyms of every word of a text, in the form and place that the word has there."""

    def __init__(self, thesaurus: Thesaurus) -> None:
        self.thesaurus = thesaurus
        self.inflect = Inflector(thesaurus.special)
        self.compounds = Compounds(thesaurus.compounds)
        self._entries: dict[str, Entry] = {}
        self._synonyms: dict[tuple[str, str, str, bool], tuple[int, dict[str, float]]] = {}

    def __call__(self, units: Sequence[str]) -> list[Token]:
        """The tokens of one text."""
        tokens = [Token.of(unit) for unit in units]
        if not self._english(tokens):
            return tokens
        shouted = sum(t.core.isupper() for t in tokens if len(t.core) > 1) * 2 > len(tokens)
        joined = self.compounds(tokens, [self.entry(t.low).bases if t.core else (t.low,) for t in tokens])
        for i, token in enumerate(tokens):
            if token.core and token.low not in SPARED and i not in joined:
                token.level, token.synonyms = self._in_place(tokens, i, units[i - 1] if i else ".", shouted)
        return tokens

    def _in_place(self, tokens: list[Token], i: int, previous: str, shouted: bool) -> tuple[int, dict[str, float]]:
        """Level and synonyms of one token between its neighbours; none where its capital says it is a name."""
        token, following = tokens[i], tokens[i + 1] if i + 1 < len(tokens) else None
        starts = _ENDS.search(previous) is not None
        capital = not token.core.islower() and not shouted
        if capital and not (starts and token.core.istitle()):
            return _NONE
        if capital and following is not None and following.core[:1].isupper():
            return _NONE  # a name of two words, or a headline
        before = "start" if starts else self._before(tokens[i - 1])
        behind = "end" if following is None or token.tail.strip("\"'\u201d\u2019)s") else self._behind(following)
        place = (token.low, before, behind, capital)
        found = self._synonyms.get(place)
        if found is None:
            found = self._synonyms[place] = self._weigh(*place)
        return found

    def entry(self, form: str) -> Entry:
        """What a lower-case form may be."""
        found = self._entries.get(form)
        if found is None:
            found = self._entries[form] = self._read(form)
        return found

    def _read(self, form: str) -> Entry:
        readings: list[tuple[Kind, str, float]] = []
        entries = self.thesaurus.words
        for kind, names in lemmas(form, self.thesaurus.exceptions).items():
            known = [(entries[name][kind[0]][0], name) for name in names if kind[0] in entries.get(name, ())]
            if known:
                count, name = max(known)
                readings.append((kind, name, count * _SHARES.get(kind, 1.0)))
        readings = self._one_plural(form, readings)
        readings.sort(key=lambda reading: -reading[2])
        bases = tuple(dict.fromkeys([form, *(name for _, name, _ in readings)]))
        return Entry(readings, bases)

    def _one_plural(self, form: str, readings: list[tuple[Kind, str, float]]) -> list[tuple[Kind, str, float]]:
        """Talks are a lemma, and the plural of another: a plural either way, of the lemma that has synonyms."""
        nouns = {kind: (name, count) for kind, name, count in readings if kind[0] == "n"}
        if len(nouns) < 2:
            return readings
        own = bool(self.thesaurus.words[form]["n"][1])
        name = nouns["n", "base" if own else "plural"][0]
        merged = (("n", "plural"), name, sum(count for _, count in nouns.values()))
        return [merged, *(reading for reading in readings if reading[0][0] != "n")]

    def _english(self, tokens: list[Token]) -> bool:
        known = unknown = 0
        for token in tokens:
            if token.core and (token.low in SPARED or self.entry(token.low).readings):
                known += 1
            elif token.core or not token.low.isascii():
                unknown += 1
        return known > _ENGLISH * (known + unknown)

    def _before(self, token: Token) -> str:
        if token.tail.startswith(("'s", "\u2019s")) and token.low not in SPARED:
            return "determiner"
        if token.tail or not token.low:
            return "joining"
        return CLASS_BEFORE.get(token.low) or self._content(token)

    def _behind(self, token: Token) -> str:
        content = CLASS_BEHIND.get(token.low) or self._content(token)
        return "noun" if content == "plural" else content

    def _content(self, token: Token) -> str:
        readings = self.entry(token.low).readings if token.core else []
        if not readings or readings[0][0][0] != "n":
            return "word"
        return "plural" if readings[0][0] == ("n", "plural") else "noun"

    def _weigh(self, form: str, before: str, behind: str, capital: bool) -> tuple[int, dict[str, float]]:
        """The strictest level that has synonyms which fit here, and those, inflected -> weight."""
        entry = self.entry(form)
        if not any(self.thesaurus.words[name][kind[0]][1] for kind, name, _ in entry.readings):
            return _NONE
        weighed = [(kind, name, n * plausibility(kind, before, behind)) for kind, name, n in entry.readings]
        total = sum(weight for _, _, weight in weighed)
        if capital and max(weighed, key=lambda w: w[2])[0] == ("n", "base"):
            return _NONE  # "Apple said": as likely a name
        readings = [(kind, name, weight / total) for kind, name, weight in weighed]
        for number, level in enumerate(LEVELS):
            good = self._good(entry, readings, number, behind)
            least = max(level.good, _NEAR_BEST * max(good.values(), default=0.0))
            good = {word: weight for word, weight in good.items() if weight >= least}
            if good:
                return number, good
        return _NONE

    def _good(
        self, entry: Entry, readings: list[tuple[Kind, str, float]], number: int, behind: str
    ) -> dict[str, float]:
        """Inflected synonym -> weight, at one level."""
        level = LEVELS[number]
        good: dict[str, float] = {}
        for kind, name, share in readings:
            levels = self.thesaurus.words[name][kind[0]][1]
            if not levels or share < level.sure or (kind[0] == "v" and behind == "governed" and not level.bold):
                continue
            for synonym, strength in levels[number].items():
                word = self.inflect(synonym, kind)
                if word is None or synonym in entry.bases or word in SPARED:
                    continue
                seen = self.thesaurus.seen
                if word in seen or (level.bold and kind[0] == "v" and seen.get(synonym, 0) >= _COMMON):
                    good[word] = good.get(word, 0.0) + strength * share
        return good
