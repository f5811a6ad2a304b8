"""The word inside a stretch of text between two spaces."""

from __future__ import annotations

import re
from functools import lru_cache

_UNIT = re.compile(
    """([("'\u2018\u201c\u00ab\u00bf\u00a1\\[]*)(.*?)([)"'\u2019\u201d\u00bb\\].,;:!?\u2026]*)""", re.DOTALL
)


@lru_cache(maxsize=1 << 16)
def split_punctuation(unit: str) -> tuple[str, str, str]:
    """What stands before the word, the word, and what follows it; the word is empty where there is none."""
    found = _UNIT.fullmatch(unit)
    assert found is not None  # every part may be empty
    lead, core, tail = found.groups()
    return (lead, core, tail) if any(map(str.isalnum, core)) else (unit, "", "")
