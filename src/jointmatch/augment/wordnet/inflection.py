"""English word forms by rule: from a form to its lemmas, and from a lemma to a form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from jointmatch.augment.wordnet.irregular import IRREGULAR_VERBS

# (part of speech, form), where n is noun, v verb, a adjective and r adverb.
Kind = tuple[str, str]
BASE = {pos: (pos, "base") for pos in "nvar"}

_ENDINGS: dict[Kind, tuple[tuple[str, str], ...]] = {
    ("n", "plural"): (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("ies", "y"),
    ),
    ("v", "third"): (("s", ""), ("es", "e"), ("es", ""), ("ies", "y")),
    ("v", "past"): (("ed", "e"), ("ed", ""), ("ied", "y")),
    ("v", "participle"): (("ed", "e"), ("ed", ""), ("ied", "y")),
    ("v", "ing"): (("ing", "e"), ("ing", ""), ("ying", "ie")),
    ("a", "comparative"): (("er", ""), ("er", "e"), ("ier", "y")),
    ("a", "superlative"): (("est", ""), ("est", "e"), ("iest", "y")),
}
_VOWELS = "aeiou"
_HISSING = re.compile(r"(s|x|z|ch|sh)$")
_SHORT = re.compile(r"[^aeiou]*(?:qu)?[aeiouy][^aeiouwxy]$")  # one syllable: the last letter doubles
_O_ES = ("echo", "embargo", "hero", "potato", "tomato", "torpedo", "veto")
_AN = re.compile(r"(?!eu|ewe|one|once|uni(?!n)|us[aeiu]|ut[ei]|ubi|ura)[aeiou]|hour|hono|honest|heir", re.IGNORECASE)
_PAST: dict[str, list[str]] = {}
_PARTICIPLE: dict[str, list[str]] = {}
for _lemma, (_past, _participle) in IRREGULAR_VERBS.items():
    _PAST.setdefault(_past, []).append(_lemma)
    _PARTICIPLE.setdefault(_participle, []).append(_lemma)

Exceptions = Mapping[str, Mapping[str, Iterable[str]]]  # part of speech -> form -> lemmas


def lemmas(form: str, exceptions: Exceptions) -> dict[Kind, list[str]]:
    """Return the possible lemmas of a lower-case form, by kind; the caller keeps those that exist."""
    found: dict[Kind, list[str]] = {kind: [form] for kind in BASE.values()}
    for kind, endings in _ENDINGS.items():
        for ending, instead in endings:
            if form.endswith(ending) and len(form) > len(ending) and not (ending == "s" and form.endswith("ss")):
                found.setdefault(kind, []).append(form[: -len(ending)] + instead)
    for kind, forms in ((("v", "past"), _PAST), (("v", "participle"), _PARTICIPLE)):
        found.setdefault(kind, []).extend(forms.get(form, ()))
    for pos, table in exceptions.items():
        for lemma in table.get(form, ()):
            for kind in _exceptional_kinds(form, pos, lemma):
                found.setdefault(kind, []).append(lemma)
    return found


def _exceptional_kinds(form: str, pos: str, lemma: str) -> list[Kind]:
    """Return the kinds of form of an entry in the exception lists, which do not give them."""
    if pos == "n":
        return [("n", "plural")]
    if pos == "v":
        if form.endswith("ing"):
            return [("v", "ing")]
        past, participle = IRREGULAR_VERBS.get(lemma, (form, form))
        return [k for k, f in ((("v", "past"), past), (("v", "participle"), participle)) if f == form]
    if form.endswith("est"):
        return [("a", "superlative")]
    return [("a", "comparative")] if form.endswith("er") else []


class Inflector:
    """Inflects a lemma.

    Args:
        special: Part of speech -> lemma -> its forms that follow no rule (doubled letters, irregular plurals).
    """

    def __init__(self, special: Mapping[str, Mapping[str, list[str]]]) -> None:
        self.special = special

    def __call__(self, lemma: str, kind: Kind) -> str | None:
        """Return the inflected form, or None if it is not a single word."""
        pos, form = kind
        if form == "base":
            return lemma
        special = self.special.get(pos, {}).get(lemma, [])
        if form == "plural":
            return special[0] if special else _with_s(lemma)
        if form == "third":
            return _with_s(lemma)
        if form in ("past", "participle") and lemma in IRREGULAR_VERBS:
            return IRREGULAR_VERBS[lemma][form == "participle"]
        if form in ("past", "participle", "ing"):
            ending = "ing" if form == "ing" else "ed"
            return next((s for s in special if s.endswith(ending)), None) or _with_ending(lemma, ending)
        return self._compared(lemma, "er" if form == "comparative" else "est", special)

    @staticmethod
    def _compared(lemma: str, ending: str, special: list[str]) -> str | None:
        if special:
            return next((s for s in special if s.endswith(ending)), None)
        if len(re.findall(r"[aeiouy]+", lemma.removesuffix("e"))) > 1 and not re.search(r"[^aeiou]y$|le$", lemma):
            return None  # "more useful": two words
        return _with_ending(lemma, ending)


def _with_s(lemma: str) -> str:
    if lemma.endswith("y") and lemma[-2:-1] not in _VOWELS:
        return lemma[:-1] + "ies"
    return lemma + ("es" if _HISSING.search(lemma) or lemma in _O_ES else "s")


def _with_ending(lemma: str, ending: str) -> str:
    if ending == "ing":
        if lemma.endswith("ie"):
            return lemma[:-2] + "ying"
        if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye", "inge")):
            return lemma[:-1] + ending
    elif lemma.endswith("e"):
        return lemma + ending[1:]
    elif lemma.endswith("y") and lemma[-2:-1] not in _VOWELS:
        return lemma[:-1] + "i" + ending
    if _SHORT.match(lemma):
        return lemma + lemma[-1] + ending
    return lemma + ending


def takes_an(word: str) -> bool:
    """Whether the word takes "an" rather than "a"."""
    return _AN.match(word) is not None
