"""A cheap guess at a word's form, based on its neighbours.

Each kind of form gets one factor for the class of the word before and one for that of the
word after. Multiplied by how often WordNet's tagged texts have the lemma as that part of
speech, this ranks the readings well enough to tell "a plan" from "to plan".
"""

from __future__ import annotations

from jointmatch.augment.wordnet.function_words import (
    BEING,
    DEGREES,
    DETERMINERS,
    GOVERNED,
    HAVING,
    JOINING,
    MODALS,
    OBJECTS,
    PREPOSITIONS,
    SUBJECTS,
    TO,
)
from jointmatch.augment.wordnet.inflection import Kind

_KINDS = "noun plural verb third past participle ing adjective adverb"
# One factor per kind above, by the class of the word before; 1 if the class says nothing.
_AFTER = {
    "start": "1 1 1 .1 .3 .6 1 1 1",
    "determiner": "1 1 .02 .02 .02 .4 .3 1 .2",
    "to": ".1 .4 1 .02 .02 .05 .1 .1 .3",
    "modal": ".02 .05 1 .02 .02 .05 .02 .05 1",
    "subject": ".05 .05 1 1 1 .1 .1 .1 1",
    "being": ".3 .2 .02 .02 .05 1 1 1 1",
    "having": ".3 .5 .03 .02 .05 1 .2 .5 1",
    "preposition": "1 1 .03 .02 .05 .3 1 1 .2",
    "degree": ".1 .2 .1 .05 .05 .5 .2 1 1",
    "joining": "1 1 .7 .7 .7 .7 .7 1 1",
    "noun": "1 1 .12 .5 .8 .7 .5 .3 .7",
    "plural": "1 1 .7 .05 .8 .7 .5 .3 .7",
    "word": "1 1 .15 .4 .6 .6 .6 .7 .7",
}
_BEFORE = {
    "end": "1 1 .4 .3 .6 .8 .7 .6 1",
    "determiner": ".15 .2 1 1 1 .6 1 .1 .5",
    "object": ".1 .1 1 1 1 .3 .8 .1 .4",
    "preposition": "1 1 .6 .6 .8 1 .8 .3 .6",
    "of": "1 1 .1 .1 .1 .1 .3 .1 .1",
    "governed": "1 1 .6 .6 .8 1 .8 .3 .6",
    "finite": "1 1 .1 .1 .1 .2 .3 .2 .5",
    "joining": "1 1 .5 .4 .6 .7 .6 .6 .8",
    "noun": ".6 .2 .5 .3 .5 .8 .7 1 .3",
    "word": ".8 .6 .7 .6 .7 .7 .7 1 1",
}
_FORMS = {
    ("n", "base"): 0,
    ("n", "plural"): 1,
    ("v", "base"): 2,
    ("v", "third"): 3,
    ("v", "past"): 4,
    ("v", "participle"): 5,
    ("v", "ing"): 6,
}


def _table(rows: dict[str, str]) -> dict[str, list[float]]:
    table = {name: [float(factor) for factor in row.split()] for name, row in rows.items()}
    assert all(len(row) == len(_KINDS.split()) for row in table.values())
    return table


AFTER, BEFORE = _table(_AFTER), _table(_BEFORE)


def _classes(*groups: tuple[str, frozenset[str]]) -> dict[str, str]:
    """Return word -> class; a word in several classes gets the first."""
    classes: dict[str, str] = {}
    for name, words in groups:
        for word in words:
            classes.setdefault(word, name)
    return classes


CLASS_BEFORE = _classes(
    ("to", TO),
    ("modal", MODALS),
    ("subject", SUBJECTS),
    ("being", BEING),
    ("having", HAVING),
    ("determiner", DETERMINERS),
    ("degree", DEGREES),
    ("preposition", PREPOSITIONS),
    ("joining", JOINING),
)
CLASS_BEHIND = _classes(
    ("of", frozenset(["of"])),
    ("finite", (BEING | HAVING | MODALS) - {"please", "do", "did", "get", "got", "look", "feel"}),
    ("determiner", DETERMINERS),
    ("object", OBJECTS | SUBJECTS),
    ("governed", GOVERNED),
    ("preposition", PREPOSITIONS),
    ("joining", JOINING),
)


def plausibility(kind: Kind, before: str, behind: str) -> float:
    """Return how well a kind of form fits between two classes of words."""
    pos, _ = kind
    column = _FORMS.get(kind, 8 if pos == "r" else 7)
    fit = AFTER[before][column] * BEFORE[behind][column]
    if pos == "a" and before in ("being", "degree") and behind != "noun":
        fit = AFTER[before][column]  # "is quick.": nothing has to follow
    return fit
