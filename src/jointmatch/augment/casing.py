"""Upper and lower case."""

from __future__ import annotations


def cased_like(model: str, word: str) -> str:
    """Return the word cased like the model: UPPER, Title or unchanged."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
