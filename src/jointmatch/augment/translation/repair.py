"""Mend broken translations: use the original's words in place of what the engine could not translate."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby

from jointmatch.augment.translation.engine import Fault
from jointmatch.augment.translation.grammar import NEGATIONS, OBJECTS, OWNERS, SUBJECTS
from jointmatch.augment.translation.slips import CONFUSED, ODD, SLIPS
from jointmatch.augment.wordnet.inflection import takes_an

BROKEN = "\ue000"  # marks a word that came back broken; never left in a mended text
WORST = 0.4  # share of broken words above which a view is discarded

_INNER = re.compile(r"""(?<=[^\s.!?:"'(>-] )[^\W\d_]\w*""")  # words that do not start a sentence
_ARTICLE = re.compile(r"\b([Aa])n? ([^\W\d_]+)")
_ACCENTED = re.compile("[\u00e1\u00e9\u00ed\u00f3\u00fa\u00f1]")
_EDGES = re.compile(r"^\W+|\W+$")
_PAGE = 500  # words aligned at once: aligning a long text that repeats itself would take minutes
_Opcode = tuple[str, int, int, int, int]


def mend(original: str, view: str) -> str | Fault:
    """Replace broken stretches of the view by the original's; spacing and capitals follow the original."""
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
    return _capitals(original, _articles(original, _spaces(original, " ".join(mended))))


def _cut(words: list[str], page: int, pages: int) -> int:
    return len(words) * page // pages


def _mend_page(ours: list[str], theirs: list[str]) -> list[str]:
    matcher = SequenceMatcher(None, list(map(_bare, ours)), list(map(_bare, theirs)))
    stretches = [_Stretch(list(group), ours, theirs) for _, group in groupby(matcher.get_opcodes(), _firm)]
    broken = [stretch.broken for stretch in stretches]
    # A word that moved from a broken stretch across a firm match into the next one would be lost or appear twice.
    kept = [
        own or (stretch.lopsided and any(broken[max(i - 2, 0) : i + 3]))
        for i, (own, stretch) in enumerate(zip(broken, stretches, strict=True))
    ]
    mended: list[str] = []
    for i, stretch in enumerate(stretches):
        beside = stretch.firm and any(kept[max(i - 1, 0) : i + 2])  # its punctuation is the neighbour's
        mended += stretch.ours if kept[i] or beside else stretch.mended
    return mended


def _marked(word: str, original: str) -> str:
    """Mark Spanish words that came back unmarked, recognised by their accents, and English words never intended."""
    bare = _bare(word)
    odd = bare in ODD or _ACCENTED.search(bare)
    return BROKEN + word if odd and bare not in original.lower() else word


def _bare(word: str) -> str:
    return _EDGES.sub("", word).lower() or word


def _firm(opcode: _Opcode) -> bool:
    """Whether at least two words match; a single one, such as "of" or "the", may match anywhere."""
    tag, start, end, _, _ = opcode
    return tag == "equal" and end - start > 1


class _Stretch:
    """The words between two firm matches, or those of a firm match."""

    def __init__(self, opcodes: list[_Opcode], ours: list[str], theirs: list[str]) -> None:
        _, i, _, j, _ = opcodes[0]
        _, _, i_end, _, j_end = opcodes[-1]
        self.ours, self.theirs = ours[i:i_end], theirs[j:j_end]
        self.changes = [(tag, ours[a:b], theirs[c:d], c == 0) for tag, a, b, c, d in opcodes]

    @property
    def broken(self) -> bool:
        """Whether to use the original's words for all of it: mixing both versions may repeat a word."""
        return any(BROKEN in word for word in self.theirs) or any(
            tag != "equal" and _astray(ours, theirs) for tag, ours, theirs, _ in self.changes
        )

    @property
    def firm(self) -> bool:
        """Whether both sides have the same words."""
        return all(tag == "equal" for tag, *_ in self.changes)

    @property
    def lopsided(self) -> bool:
        """Whether only one side has words here."""
        return not self.ours or not self.theirs

    @property
    def mended(self) -> list[str]:
        """The view's words with small errors corrected."""
        if not self.firm and sorted(map(_bare, self.ours)) == sorted(map(_bare, self.theirs)):
            return self.ours  # "a folder shared" for "a shared folder"
        words: list[str] = []
        for tag, ours, theirs, at_start in self.changes:
            words += theirs if tag == "equal" else _change(ours, theirs, at_start)
        return words


def _astray(ours: list[str], theirs: list[str]) -> bool:
    """Whether a negation was gained or lost ("nobody came", "anybody came"), or one of several words was confused."""
    if any(map(_negative, ours)) != any(map(_negative, theirs)):
        return True
    if len(ours) == len(theirs):
        return False  # compared word by word
    before = set(map(_bare, ours))
    after = set(map(_bare, theirs)) - before
    return any((a, b) in CONFUSED for a in before for b in after)


def _change(ours: list[str], theirs: list[str], at_start: bool) -> list[str]:
    """Undo what Spanish does to articles and subjects; keep the view's words otherwise."""
    if theirs and _subject(theirs[0]) and not any(map(_subject, ours)):
        theirs = theirs[1:]
    if not ours and len(theirs) == 1 and _bare(theirs[0]) == "the" and not at_start:
        return []
    if len(ours) == len(theirs):
        return list(map(_word, ours, theirs))
    if ours and _subject(ours[0]) and not any(map(_subject, theirs)):
        rest = list(map(_word, ours[1:], theirs)) if len(ours) == len(theirs) + 1 else theirs
        return [_subject(ours[0]), *rest]
    return theirs


def _subject(word: str) -> str:
    """Return the subject pronoun in "she" or "she'll", as it is written; "" if there is none."""
    start = re.split("['\u2019]", _EDGES.sub("", word))[0]
    return start if start.lower() in SUBJECTS else ""


def _negative(word: str) -> bool:
    bare = _bare(word)
    return bare in NEGATIONS or bare.endswith("n't")


def _word(ours: str, theirs: str) -> str:
    """Return the view's word, or the original's if it was confused or a dropped subject came back as any pronoun."""
    a, b = _bare(ours), _bare(theirs)
    if (
        (a, b) in SLIPS
        or _one_ending_apart(a, b)
        or any(a in kind and b in kind for kind in (SUBJECTS, OBJECTS, OWNERS))
    ):
        return theirs.replace(_EDGES.sub("", theirs), _EDGES.sub("", ours))
    return theirs


def _one_ending_apart(a: str, b: str) -> bool:
    """Whether two words differ only in number, person or tense, with which the neighbours still agree."""
    short, long = sorted((a, b), key=len)
    return len(short) > 2 and long.removeprefix(short) in ("s", "es", "d", "ed") and long.startswith(short)


def _spaces(original: str, view: str) -> str:
    if not re.search(r"\s[,.;:!?]", original):
        view = re.sub(r"\s+([,.;:!?])", r"\1", view)
    return view


def _articles(original: str, view: str) -> str:
    """Make each "a" or "an" fit the word that now follows it."""
    settled = {match[0].lower() for match in _ARTICLE.finditer(original)}

    def fit(match: re.Match[str]) -> str:
        right = match[0].lower() in settled or match[2].isupper()
        return match[0] if right else f"{match[1]}{'n' * takes_an(match[2])} {match[2]}"

    return _ARTICLE.sub(fit, view)


def _capitals(original: str, view: str) -> str:
    original = " ".join(original.split())
    if not any(c.isupper() for c in original):
        return view.lower()
    if not any(c.islower() for c in original):
        return view.upper()
    if _headline(original):
        return re.sub(r"(?<!['\u2019\w])[a-z]\w{3,}", lambda match: match[0].capitalize(), view)
    small = set(re.findall(r"[a-z]\w*", original))
    names = {word.lower(): word for word in _INNER.findall(original) if word[0].isupper()}
    view = _INNER.sub(lambda match: _name(match[0], names, small), view)
    if re.search(r"[.!?] [a-z]", original):  # not every full stop ends a sentence here, as in "Acme Inc. said"
        view = re.sub(r"(?<=[.!?] )\w+", lambda m: m[0].lower() if m[0].lower() in small else m[0], view)
    else:
        view = re.sub(r"(?<=[.!?] )[a-z]", lambda match: match[0].upper(), view)
    first = next((c for c in original if c.isalpha()), "")
    return re.sub(r"[^\W\d_]", lambda match: match[0].upper(), view, count=1) if first.isupper() else view


def _headline(text: str) -> bool:
    """Whether every word except short ones is capitalised."""
    long = re.findall(r"(?<!['\u2019\w])[^\W\d_]\w{3,}", text)
    return len(long) > 3 and all(word[0].isupper() for word in long)


def _name(word: str, names: dict[str, str], small: set[str]) -> str:
    low = word.lower()
    if not word[1:].islower():  # IBM and I
        return word
    return names[low] if low in names and low not in small else low
