"""Separate a word from the punctuation around it."""

from __future__ import annotations

import re
from functools import lru_cache

_UNIT = re.compile(
    """([("'\u2018\u201c\u00ab\u00bf\u00a1\\[]*)(.*?)([)"'\u2019\u201d\u00bb\\].,;:!?\u2026]*)""", re.DOTALL
)


@lru_cache(maxsize=1 << 16)
def split_punctuation(unit: str) -> tuple[str, str, str]:
    """Split a unit into leading punctuation, word and trailing punctuation; the word is empty if there is none."""
    found = _UNIT.fullmatch(unit)
    assert found is not None  # always matches, since every part may be empty
    lead, core, tail = found.groups()
    return (lead, core, tail) if any(map(str.isalnum, core)) else (unit, "", "")
