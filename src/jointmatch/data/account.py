"""Texts on their way to a prediction: cut where training cuts them, and counted."""

from __future__ import annotations

from collections.abc import Sequence

from jointmatch.data.blank import is_blank
from jointmatch.data.splits import MAX_CHARACTERS, cut


class TextAccount:
    """How many texts were empty and how many were cut, over all chunks of a file."""

    def __init__(self) -> None:
        self.empty = self.long = 0

    def take(self, texts: Sequence[str]) -> list[str]:
        """Count the texts; return them as a model reads them."""
        self.empty += sum(map(is_blank, texts))
        self.long += sum(len(text) > MAX_CHARACTERS for text in texts)
        return cut(texts)

    def told(self, done: str) -> str | None:
        """One line of what was found and what was ``done`` with the empty ones; None where all is well."""
        empty = [f"{self.empty} empty text(s): {done}."] if self.empty else []
        long = [f"{self.long} text(s) over {MAX_CHARACTERS:,} characters: cut there."] if self.long else []
        return " ".join([*empty, *long]) or None
