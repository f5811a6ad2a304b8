"""Split a text into sentences, the unit that translation models were trained on."""

from __future__ import annotations

import re

_END = re.compile(r"""(?<=[.!?])["')\]]?\s+(?=["'(\[]?[A-Z0-9])|\s*\n\s*""")
_LONGEST = 80  # words; longer stretches without a full stop are cut anyway


def sentences(text: str) -> list[str]:
    """Return the sentences in order; none is empty, and none is longer than a model can handle."""
    cut: list[str] = []
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        words = text[start:end].split()
        cut += [" ".join(words[i : i + _LONGEST]) for i in range(0, len(words), _LONGEST)]
        start = end
    return cut


def latin(sentence: str) -> bool:
    """Whether a sentence has words that a model of a European language may know."""
    letters = [c for c in sentence if c.isalpha()]
    return bool(letters) and 2 * sum(c < "\u0250" for c in letters) > len(letters)
