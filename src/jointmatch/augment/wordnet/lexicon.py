"""What is known about a word before looking at its neighbours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jointmatch.augment.wordnet.function_words import SPARED
from jointmatch.augment.wordnet.grammar import CLASS_BEFORE, CLASS_BEHIND
from jointmatch.augment.wordnet.inflection import Kind, lemmas
from jointmatch.augment.wordnet.thesaurus import Thesaurus

Reading = tuple[Kind, str, float]  # kind of form, lemma, frequency

_WORD = re.compile("""^([("'\u201c\u2018\\[*_]*)([A-Za-z]+)((?:['\u2019]s)?[^\\w@#&/\\\\]*)$""")
_ENDS = re.compile(r"[.!?:;]\W*$|^-+$")
# Roughly how a lemma's occurrences are spread over its forms.
_SHARES = {
    ("n", "base"): 0.7,
    ("n", "plural"): 0.3,
    ("v", "base"): 0.35,
    ("v", "third"): 0.1,
    ("v", "past"): 0.25,
    ("v", "participle"): 0.2,
    ("v", "ing"): 0.15,
}


@dataclass(slots=True)
class Entry:
    """A lower-case form's readings, likeliest first, and its bases: the form itself and its lemmas."""

    readings: list[Reading]
    bases: tuple[str, ...]


@dataclass(slots=True)
class Word:
    """A space-separated piece of text, split into punctuation and word.

    Attributes:
        core: The word itself; empty for a number, an address or the like.
        bases: What it may be a form of.
        ends: Whether a sentence ends here.
        breaks: Whether a comma or the like separates it from what follows.
        as_before: Its class as seen by the word after it.
        as_behind: Its class as seen by the word before it.
        english: Whether it is an English word; None if it belongs to no language.
    """

    lead: str
    core: str
    tail: str
    low: str
    bases: tuple[str, ...]
    ends: bool
    breaks: bool
    as_before: str
    as_behind: str
    english: bool | None

    def with_core(self, core: str) -> str:
        """Return the same piece of text with another word in it."""
        return self.lead + core + self.tail


class Lexicon:
    """Looks words up in a thesaurus, each only once."""

    def __init__(self, thesaurus: Thesaurus) -> None:
        self.thesaurus = thesaurus
        self._entries: dict[str, Entry] = {}
        self._words: dict[str, Word] = {}

    def __getitem__(self, unit: str) -> Word:
        """Return what is known about a word as it is written."""
        found = self._words.get(unit)
        if found is None:
            found = self._words[unit] = self._word(unit)
        return found

    def entry(self, form: str) -> Entry:
        """Return the entry of a lower-case form."""
        found = self._entries.get(form)
        if found is None:
            found = self._entries[form] = self._read(form)
        return found

    def _word(self, unit: str) -> Word:
        ends = _ENDS.search(unit) is not None
        match = _WORD.match(unit)
        if match is None:
            low = unit.lower().strip(".,;:!?\"'()").replace("\u2019", "'")
            before, behind = CLASS_BEFORE.get(low, "word"), CLASS_BEHIND.get(low, "word")
            return Word(
                unit,
                "",
                "",
                low,
                (low,),
                ends,
                False,
                before if low else "joining",
                behind,
                None if low.isascii() else False,
            )
        lead, core, tail = match.groups()
        low, entry = core.lower(), self.entry(core.lower())
        breaks = bool(tail.strip("\"'\u201d\u2019)s"))
        before, behind = self._as_before(low, tail), CLASS_BEHIND.get(low) or _content(entry).replace("plural", "noun")
        english = low in SPARED or bool(entry.readings)
        return Word(lead, core, tail, low, entry.bases, ends, breaks, before, behind, english)

    def _as_before(self, low: str, tail: str) -> str:
        if tail.startswith(("'s", "\u2019s")) and low not in SPARED:
            return "determiner"
        return "joining" if tail else CLASS_BEFORE.get(low) or _content(self.entry(low))

    def _read(self, form: str) -> Entry:
        readings: list[Reading] = []
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

    def _one_plural(self, form: str, readings: list[Reading]) -> list[Reading]:
        """Read "talks", both a lemma and the plural of another, as one plural only: that of the lemma with synonyms."""
        nouns = {kind: (name, count) for kind, name, count in readings if kind[0] == "n"}
        if len(nouns) < 2:
            return readings
        own = bool(self.thesaurus.words[form]["n"][1])
        name = nouns["n", "base" if own else "plural"][0]
        merged = (("n", "plural"), name, sum(count for _, count in nouns.values()))
        return [merged, *(reading for reading in readings if reading[0][0] != "n")]


def _content(entry: Entry) -> str:
    if not entry.readings or entry.readings[0][0][0] != "n":
        return "word"
    return "plural" if entry.readings[0][0] == ("n", "plural") else "noun"
