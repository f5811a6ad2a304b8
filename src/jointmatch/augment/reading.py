"""Reads the words of a text: which may be replaced, and by what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jointmatch.augment.function_words import SPARED, words
from jointmatch.augment.grammar import CLASS_BEFORE, CLASS_BEHIND, plausibility
from jointmatch.augment.inflection import Inflector, Kind, lemmas
from jointmatch.augment.thesaurus import Thesaurus

_TOKEN = re.compile("""^([("'\u201c\u2018\\[*_]*)([A-Za-z]+)((?:['\u2019]s)?[^\\w@#&/\\\\]*)$""")
_ENDS = re.compile(r"[.!?:;]\W*$")
_PARTICLES = words("up out off down away back in on over")
_GOOD = 0.04  # the weakest synonym that is used
_NEAR_BEST = 0.5  # and its weight beside the best one's
_SURE = 0.5  # below this share of all readings, one is not acted on
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
_ENGLISH = 0.55  # the share of known words above which a text is taken for English


@dataclass(slots=True)
class Token:
    """One word of a text, its punctuation apart; no synonyms where it is better left alone."""

    lead: str
    core: str
    tail: str
    low: str
    synonyms: dict[str, float]

    def with_core(self, core: str) -> str:
        """The token with another word in it."""
        return self.lead + core + self.tail


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
        self._entries: dict[str, Entry] = {}
        self._synonyms: dict[tuple[str, str, str, bool], dict[str, float]] = {}

    def __call__(self, units: Sequence[str]) -> list[Token]:
        """The tokens of one text."""
        tokens = [self._token(unit) for unit in units]
        if not self._english(tokens):
            return tokens
        shouted = sum(t.core.isupper() for t in tokens if len(t.core) > 1) * 2 > len(tokens)
        joined = self._compounds(tokens)
        for i, token in enumerate(tokens):
            if token.core and token.low not in SPARED and i not in joined:
                token.synonyms = self._in_place(tokens, i, units[i - 1] if i else ".", shouted)
        return tokens

    def _in_place(self, tokens: list[Token], i: int, previous: str, shouted: bool) -> dict[str, float]:
        """The synonyms of one token between its neighbours; none where its capital says it is a name."""
        token, following = tokens[i], tokens[i + 1] if i + 1 < len(tokens) else None
        starts = _ENDS.search(previous) is not None
        capital = not token.core.islower() and not shouted
        if capital and not (starts and token.core.istitle()):
            return {}
        if capital and following is not None and following.core[:1].isupper():
            return {}  # a name of two words, or a headline
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
        if any(kind == ("n", "plural") for kind, _, _ in readings):  # talks: a lemma, but a plural
            readings = [(("n", "plural") if k == ("n", "base") else k, n, c) for k, n, c in readings]
        readings.sort(key=lambda reading: -reading[2])
        bases = tuple(dict.fromkeys([form, *(name for _, name, _ in readings)]))
        return Entry(readings, bases)

    def _token(self, word: str) -> Token:
        match = _TOKEN.match(word)
        if match is None:
            low = word.lower().strip(".,;:!?\"'()").replace("\u2019", "'")
            return Token(word, "", "", low, {})
        lead, core, tail = match.groups()
        return Token(lead, core, tail, core.lower(), {})

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

    def _compounds(self, tokens: list[Token]) -> set[int]:
        """Places of the words that stand in a compound or with the particle of a phrasal verb."""
        joined: set[int] = set()
        compounds = self.thesaurus.compounds
        bases = [self.entry(t.low).bases if t.core else (t.low,) for t in tokens]
        for i in range(len(tokens) - 1):
            if tokens[i].tail:
                continue
            for gap in (1, 2, 3):
                j = i + gap
                if j >= len(tokens):
                    break
                if (gap == 1 or tokens[j].low in _PARTICLES) and any(
                    f"{a} {b}" in compounds for a in bases[i] for b in bases[j]
                ):
                    joined.update((i, j))
            if i + 2 < len(tokens) and not tokens[i + 1].tail:
                middle = tokens[i + 1].low
                if any(f"{a} {middle} {b}" in compounds for a in bases[i] for b in bases[i + 2]):
                    joined.update((i, i + 1, i + 2))
        return joined

    def _weigh(self, form: str, before: str, behind: str, capital: bool) -> dict[str, float]:
        """Inflected synonym -> weight, of those that are good enough here."""
        entry = self.entry(form)
        weighed = [(kind, name, n * plausibility(kind, before, behind)) for kind, name, n in entry.readings]
        total = sum(weight for _, _, weight in weighed)
        if not total:
            return {}
        if capital and max(weighed, key=lambda w: w[2])[0] == ("n", "base"):
            return {}  # "Apple said": as likely a name
        good: dict[str, float] = {}
        for kind, name, weight in weighed:
            if weight < _SURE * total or (kind[0] == "v" and behind == "governed"):
                continue
            for synonym, strength in self.thesaurus.words[name][kind[0]][1].items():
                word = self.inflect(synonym, kind)
                if word and synonym not in entry.bases and word in self.thesaurus.seen and word not in SPARED:
                    good[word] = good.get(word, 0.0) + strength * weight / total
        least = max(_GOOD, _NEAR_BEST * max(good.values(), default=0.0))
        return {word: weight for word, weight in good.items() if weight >= least}
