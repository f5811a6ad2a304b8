"""What counts as blank: white space, and characters that are invisible on a screen."""

from __future__ import annotations

import unicodedata

UNSEEN = {"Cc", "Cf"}  # control and format characters, such as U+200B and U+FEFF
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and marks that are blank by design


def is_blank(text: str) -> bool:
    """Whether a text has no visible character; stops at the first one found."""
    return all(c.isspace() or c in FILLERS or unicodedata.category(c) in UNSEEN for c in text)
