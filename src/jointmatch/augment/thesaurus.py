"""WordNet boiled down to what replacing words needs: good synonyms with their strength, and word forms."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jointmatch.augment.database import POS, Senses, Synset, compounds, exceptions, senses, synsets, tag_counts
from jointmatch.augment.function_words import SPARED
from jointmatch.augment.inflection import Exceptions, lemmas
from jointmatch.augment.wordnet import COUNTS

_FAMILIAR = 40  # a synonym seen this often needs no further sign of being a common word
_FAR = 0.25  # as close as this are words that have nothing to do with each other
_SIMILAR = 0.5  # a wider adjective's part of a synonym's strength
_WEAKEST = 0.03

Closeness = Callable[[str, str], float]


@dataclass
class Thesaurus:
    """What the augmenter needs of WordNet.

    Attributes:
        words: Lemma -> part of speech -> (how often it was tagged, {synonym: strength}).
        compounds: Lemmas of two or three words.
        exceptions: Part of speech -> irregular form -> lemmas.
        special: Part of speech -> lemma -> irregular forms in use.
        seen: Word form -> how often WordNet's definitions and examples have it.
        digest: Fingerprint of the files it was made from.
    """

    words: dict[str, dict[str, tuple[float, dict[str, float]]]]
    compounds: set[str]
    exceptions: dict[str, dict[str, list[str]]]
    special: dict[str, dict[str, list[str]]]
    seen: dict[str, int]
    digest: str = ""


def build(texts: Mapping[str, str], close: Closeness) -> Thesaurus:
    """Read WordNet's files (name -> text); ``close`` says how close two words are, from 0 to 1."""
    glosses: Counter[str] = Counter()
    meanings = {pos: dict(synsets(texts[f"data.{name}"], glosses)) for name, pos in POS.items()}
    irregular = {pos: exceptions(texts[f"{name}.exc"]) for name, pos in POS.items()}
    counts = tag_counts(texts[COUNTS])
    known: Senses = {}
    for name, pos in POS.items():
        known |= senses(texts[f"index.{name}"], pos, meanings[pos], counts)
    choice = _Choice(known, meanings, irregular, _commonness(known, glosses), close)
    words: dict[str, dict[str, tuple[float, dict[str, float]]]] = defaultdict(dict)
    for (lemma, pos), shares in known.items():
        words[lemma][pos] = (sum(count for count, _ in shares.values()), choice.synonyms(lemma, pos))
    return Thesaurus(
        words=dict(words),
        compounds={compound for name in POS for compound in compounds(texts[f"index.{name}"])},
        exceptions=irregular,
        special=_special(irregular, glosses),
        seen={word: count for word, count in glosses.items() if count > 1},
    )


def _commonness(known: Senses, glosses: Counter[str]) -> dict[str, float]:
    """How common each lemma is: its tags and its occurrences in WordNet's own definitions and examples."""
    common: dict[str, float] = {}
    for (lemma, _), shares in known.items():
        seen = glosses[lemma] + glosses[lemma + "s"] if lemma not in common else common[lemma]
        common[lemma] = seen + sum(int(count) for count, _ in shares.values())
    return common


@dataclass
class _Choice:
    """Which of the words that share a meaning are fit to stand for each other."""

    senses: Senses
    synsets: Mapping[str, Mapping[str, Synset]]
    irregular: Exceptions
    common: Mapping[str, float]
    close: Closeness

    def synonyms(self, lemma: str, pos: str) -> dict[str, float]:
        """Synonym -> strength.

        It grows with how much of what the word means the synonym can mean, the same the other
        way round, how usual the synonym is as this part of speech and at all, and how close to
        the word an encoder finds it.
        """
        strengths: dict[str, float] = {}
        near = self._near(lemma, pos)
        for word, share in self._meant(lemma, pos).items():
            back = sum(part * near.get(offset, 0.0) for offset, (_, part) in self.senses[word, pos].items())
            shared = share * back * self._usual(word, pos) * min(1.0, self.common[word] / _FAMILIAR)
            strength = math.sqrt(shared) * (self.close(lemma, word) - _FAR)
            if strength >= _WEAKEST:
                strengths[word] = round(strength, 3)
        return strengths

    def _usual(self, word: str, pos: str) -> float:
        """The share of a word's uses that are of this part of speech: a companion is seldom a verb."""
        uses = {p: sum(count for count, _ in self.senses[word, p].values()) for p in "nvar" if (word, p) in self.senses}
        return uses[pos] / sum(uses.values())

    def _meant(self, lemma: str, pos: str) -> dict[str, float]:
        """Plain word -> the share of the lemma's uses in which it means the same."""
        meant: dict[str, float] = defaultdict(float)
        if lemma in SPARED:
            return meant
        for offset, (_, share) in self.senses[lemma, pos].items():
            own = self.synsets[pos][offset]
            position = own.positions[own.words.index(lemma)]
            for place, nearness in ((offset, 1.0), *((similar, _SIMILAR) for similar in own.similar)):
                synset = self.synsets[pos][place]
                for word, its_position in zip(synset.words, synset.positions, strict=True):
                    if its_position == position and word not in synset.marked and self._fit(word, lemma):
                        meant[word] += share * nearness
        return meant

    def _near(self, lemma: str, pos: str) -> dict[str, float]:
        """Offset -> how near its meaning is to one of the lemma's."""
        own = self.senses[lemma, pos]
        near = {similar: _SIMILAR for offset in own for similar in self.synsets[pos][offset].similar}
        return near | dict.fromkeys(own, 1.0)

    def _fit(self, word: str, lemma: str) -> bool:
        """Whether a synonym is near, an ordinary word, no form of another, and not the lemma in another guise."""
        if (
            self.close(lemma, word) <= _FAR
            or len(word) < 3
            or not (word.isascii() and word.isalpha() and word.islower())
            or word in SPARED
        ):
            return False
        if _skeleton(word) == _skeleton(lemma) or _related(word, lemma):
            return False
        forms = lemmas(word, self.irregular)
        return not any(
            (name, kind[0]) in self.senses
            for kind in (("n", "plural"), ("v", "ing"))
            for name in forms.get(kind, ())
            if name != word
        )


def _related(word: str, lemma: str) -> bool:
    """Whether one is made from the other, as marketplace from market: not another word."""
    short, long = sorted((word, lemma), key=len)
    return long.startswith(short) or (len(short) > 5 and long.startswith(short[:-2]))


def _skeleton(word: str) -> str:
    """The same for spellings of one word: organise and organize, theater and theatre, defence and defense."""
    return word[0] + re.sub(r"(.)\1", r"\1", re.sub(r"[aeiouy]", "", word[1:].replace("c", "s").replace("z", "s")))


def _special(
    irregular: Mapping[str, Mapping[str, list[str]]], glosses: Counter[str]
) -> dict[str, dict[str, list[str]]]:
    """Part of speech -> lemma -> its irregular forms that are in use."""
    special: dict[str, dict[str, list[str]]] = {}
    for pos, table in irregular.items():
        forms: dict[str, list[str]] = defaultdict(list)
        for form, names in table.items():
            for lemma in names:
                # Some are out of use: the plural of cow is cows, not kine.
                if form.isalpha() and not (pos == "n" and glosses[lemma + "s"] > glosses[form]):
                    forms[lemma].append(form)
        special[pos] = dict(forms)
    return special
