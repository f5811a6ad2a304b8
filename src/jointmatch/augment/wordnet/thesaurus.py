"""WordNet reduced to what is needed to replace words: good synonyms with their strength, and word forms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jointmatch.augment.wordnet.choice import Choice, Closeness
from jointmatch.augment.wordnet.database import POS, Senses, compounds, exceptions, senses, synsets, tag_counts
from jointmatch.augment.wordnet.levels import LEVELS, Level
from jointmatch.augment.wordnet.source import COUNTS


@dataclass
class Thesaurus:
    """What the augmenter needs from WordNet.

    Attributes:
        words: Lemma -> part of speech -> (how often it was tagged, {synonym: strength} of each level or nothing).
        compounds: Lemmas of two or three words.
        exceptions: Part of speech -> irregular form -> lemmas.
        special: Part of speech -> lemma -> irregular forms in use.
        seen: Word form -> how often it occurs in WordNet's definitions and examples.
        digest: Fingerprint of all of the above.
    """

    words: dict[str, dict[str, tuple[float, list[dict[str, float]]]]]
    compounds: set[str]
    exceptions: dict[str, dict[str, list[str]]]
    special: dict[str, dict[str, list[str]]]
    seen: dict[str, int]
    digest: str = ""


def build(texts: Mapping[str, str], close: Closeness, levels: Sequence[Level] = LEVELS) -> Thesaurus:
    """Build a thesaurus from WordNet's files (name -> text); ``close`` rates how close two words are, from 0 to 1."""
    glosses: Counter[str] = Counter()
    meanings = {pos: dict(synsets(texts[f"data.{name}"], glosses)) for name, pos in POS.items()}
    irregular = {pos: exceptions(texts[f"{name}.exc"]) for name, pos in POS.items()}
    counts = tag_counts(texts[COUNTS])
    known: Senses = {}
    for name, pos in POS.items():
        known |= senses(texts[f"index.{name}"], pos, meanings[pos], counts)
    choice = Choice(known, meanings, irregular, _commonness(known, glosses), close, levels)
    words: dict[str, dict[str, tuple[float, list[dict[str, float]]]]] = defaultdict(dict)
    for (lemma, pos), shares in known.items():
        count = sum(count for count, _ in shares.values())
        words[lemma][pos] = (count, choice.synonyms(lemma, pos))
    return Thesaurus(
        words=dict(words),
        compounds={compound for name in POS for compound in compounds(texts[f"index.{name}"])},
        exceptions=irregular,
        special=_special(irregular, glosses),
        seen={word: count for word, count in glosses.items() if count > 1},
    )


def _commonness(known: Senses, glosses: Counter[str]) -> dict[str, float]:
    """Return how common each lemma is: its tags plus its occurrences in WordNet's own definitions and examples."""
    common: dict[str, float] = {}
    for (lemma, _), shares in known.items():
        seen = glosses[lemma] + glosses[lemma + "s"] if lemma not in common else common[lemma]
        common[lemma] = seen + sum(int(count) for count, _ in shares.values())
    return common


def _special(
    irregular: Mapping[str, Mapping[str, list[str]]], glosses: Counter[str]
) -> dict[str, dict[str, list[str]]]:
    """Return part of speech -> lemma -> its irregular forms that are in use."""
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
