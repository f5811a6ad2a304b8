"""Mend what came back broken: the original's words in place of what the engine could not say."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby

from jointmatch.augment.translation.engine import Fault
from jointmatch.augment.translation.grammar import NEGATIONS, OBJECTS, OWNERS, SUBJECTS
from jointmatch.augment.translation.slips import ODD, SLIPS

BROKEN = "\ue000"  # stands before a word that came back broken; no text keeps it
WORST = 0.4  # share of broken words from which a view is given up

_INNER = re.compile(r"""(?<=[^\s.!?:"'(>-] )[^\W\d_]\w*""")  # words that do not start a sentence
_ACCENTED = re.compile("[\u00e1\u00e9\u00ed\u00f3\u00fa\u00f1]")
_EDGES = re.compile(r"^\W+|\W+$")
_PAGE = 500  # words aligned at once: on a long text that repeats itself alignment takes minutes
_Opcode = tuple[str, int, int, int, int]


def mend(original: str, view: str) -> str | Fault:
    """The view with its broken stretches replaced by the original's; spaces and capitals as in the original."""
    ours, theirs = original.split(), [_marked(word, original) for word in view.split()]
    if not theirs or not ours:
        return Fault.EMPTY
    if sum(BROKEN in word for word in theirs) > WORST * len(theirs):
        return Fault.ARTEFACTS
    pages = -(-len(ours) // _PAGE)
    mended: list[str] = []
    for page in range(pages):
        part, its_view = (words[_cut(words, page, pages) : _cut(words, page + 1, pages)] for words in (ours, theirs))
        mended += _mend_page(part, its_view)
    return _capitals(original, _spaces(original, " ".join(mended)))


def _cut(words: list[str], page: int, pages: int) -> int:
    return len(words) * page // pages


def _mend_page(ours: list[str], theirs: list[str]) -> list[str]:
    matcher = SequenceMatcher(None, list(map(_bare, ours)), list(map(_bare, theirs)))
    mended: list[str] = []
    for _, group in groupby(matcher.get_opcodes(), _firm):
        mended += _stretch(list(group), ours, theirs)
    return mended


def _marked(word: str, original: str) -> str:
    """A Spanish word may come back unmarked, but its accents tell; and some English words are never meant."""
    bare = _bare(word)
    odd = bare in ODD or _ACCENTED.search(bare)
    return BROKEN + word if odd and bare not in original.lower() else word


def _bare(word: str) -> str:
    return _EDGES.sub("", word).lower() or word


def _firm(opcode: _Opcode) -> bool:
    """Two words match; one alone, an "of" or a "the", may match anywhere."""
    tag, start, end, _, _ = opcode
    return tag == "equal" and end - start > 1


def _stretch(opcodes: list[_Opcode], ours: list[str], theirs: list[str]) -> list[str]:
    """The words from one firm match to the next: the original's where any of the view's is broken."""
    if any(BROKEN in word for word in theirs[opcodes[0][3] : opcodes[-1][4]]):
        return ours[opcodes[0][1] : opcodes[-1][2]]
    words: list[str] = []
    for tag, i, i_end, j, j_end in opcodes:
        words += theirs[j:j_end] if tag == "equal" else _change(ours[i:i_end], theirs[j:j_end], at_start=j == 0)
    return words


def _change(ours: list[str], theirs: list[str], at_start: bool) -> list[str]:
    """What Spanish does to articles, subjects and negations is undone; other words are the view's."""
    if theirs and _subject(theirs[0]) and not any(map(_subject, ours)):
        theirs = theirs[1:]
    if not ours and len(theirs) == 1 and _bare(theirs[0]) == "the" and not at_start:
        return []
    if any(map(_negative, ours)) != any(map(_negative, theirs)):
        return ours  # "nobody came" must not come back as "anybody came"
    if len(ours) == len(theirs):
        return list(map(_word, ours, theirs))
    if ours and _subject(ours[0]) and not any(map(_subject, theirs)):
        return [_subject(ours[0]), *theirs]
    return theirs


def _subject(word: str) -> str:
    """The pronoun in "she" and in "she'll", as it is written there; else nothing."""
    start = re.split("['\u2019]", _EDGES.sub("", word))[0]
    return start if start.lower() in SUBJECTS else ""


def _negative(word: str) -> bool:
    bare = _bare(word)
    return bare in NEGATIONS or bare.endswith("n't")


def _word(ours: str, theirs: str) -> str:
    """The view's word, but the original's where it slipped, or where a dropped subject came back as just anyone."""
    a, b = _bare(ours), _bare(theirs)
    if (a, b) in SLIPS or any(a in kind and b in kind for kind in (SUBJECTS, OBJECTS, OWNERS)):
        return theirs.replace(_EDGES.sub("", theirs), _EDGES.sub("", ours))
    return theirs


def _spaces(original: str, view: str) -> str:
    if not re.search(r"\s[,.;:!?]", original):
        view = re.sub(r"\s+([,.;:!?])", r"\1", view)
    return view


def _capitals(original: str, view: str) -> str:
    original = " ".join(original.split())
    if not any(c.isupper() for c in original):
        return view.lower()
    if not any(c.islower() for c in original):
        return view.upper()
    small = set(re.findall(r"[a-z]\w*", original))
    names = {word.lower(): word for word in _INNER.findall(original) if word[0].isupper()}
    view = _INNER.sub(lambda match: _name(match[0], names, small), view)
    if re.search(r"[.!?] [a-z]", original):  # not every full stop ends a sentence here: "Acme Inc. said"
        view = re.sub(r"(?<=[.!?] )\w+", lambda m: m[0].lower() if m[0].lower() in small else m[0], view)
    else:
        view = re.sub(r"(?<=[.!?] )[a-z]", lambda match: match[0].upper(), view)
    first = next((c for c in original if c.isalpha()), "")
    return re.sub(r"[^\W\d_]", lambda match: match[0].upper(), view, count=1) if first.isupper() else view


def _name(word: str, names: dict[str, str], small: set[str]) -> str:
    low = word.lower()
    if not word[1:].islower():  # IBM and I
        return word
    return names[low] if low in names and low not in small else low
