"""Keep track of what happens to rows on their way to a prediction: truncated texts and omitted columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jointmatch.data.blank import is_blank
from jointmatch.data.splits import MAX_CHARACTERS, cut
from jointmatch.data.tables import Table


class TextAccount:
    """Counts the empty and the truncated texts over all chunks of a file."""

    def __init__(self) -> None:
        self.empty = self.long = 0

    def take(self, texts: Sequence[str]) -> list[str]:
        """Count the texts; return them truncated, as the model reads them."""
        self.empty += sum(map(is_blank, texts))
        self.long += sum(len(text) > MAX_CHARACTERS for text in texts)
        return cut(texts)

    def told(self, done: str) -> str | None:
        """Return one line on what was found and what was ``done`` with the empty texts, or None if all is well."""
        empty = [f"{self.empty} empty text(s): {done}."] if self.empty else []
        long = [f"{self.long} text(s) over {MAX_CHARACTERS:,} characters: cut there."] if self.long else []
        return " ".join([*empty, *long]) or None


class ColumnAccount:
    """Finds columns that first appear after a table's header was written, and the row from which each is left out.

    Args:
        header: The columns that are written.
    """

    def __init__(self, header: Iterable[str]) -> None:
        self.header = set(header)
        self.late: dict[str, int] = {}
        self.rows = 0

    def take(self, chunk: Table) -> None:
        """Look for new columns in the next rows."""
        for name in chunk.keys() - self.header - self.late.keys():
            row = next((i for i, value in enumerate(chunk[name], start=1) if value is not None), None)
            if row is not None:
                self.late[name] = self.rows + row
        self.rows += len(next(iter(chunk.values()), []))

    def told(self) -> str | None:
        """Return one line on what is left out, or None if nothing is."""
        if not self.late:
            return None
        columns = ", ".join(
            f"{name!r} from row {row:,} on" for name, row in sorted(self.late.items(), key=lambda c: c[1])
        )
        return (
            f"Left out: {columns}. The header was written by then; JSON lines (--output FILE.jsonl) keep every column."
        )
