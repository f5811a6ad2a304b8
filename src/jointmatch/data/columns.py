"""Determine which column holds the text and which the label, as named by the user or by guessing."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from jointmatch.data.tables import Format, Table
from jointmatch.errors import DataError, did_you_mean, shortened

TEXT_NAMES = (
    "text", "texts", "sentence", "content", "message", "body", "document", "review", "comment", "utterance",
    "tweet", "post", "question", "query", "description", "abstract", "ticket", "email", "title", "subject",
)  # fmt: skip
LABEL_NAMES = (
    "label", "labels", "class", "category", "categories", "intent", "target", "topic", "sentiment", "emotion",
    "tag", "y", "queue", "department", "kind", "type",
)  # fmt: skip


def text_column(table: Table, named: str | None, where: str, avoid: str | None = None) -> str:
    """Return the text column: the one named, one with a usual name, or the only column that holds text."""
    columns = list(table)
    if named is not None:
        return _named(columns, named, where, "--text-column")
    columns = [c for c in columns if c != avoid]
    usual = _usual(columns, TEXT_NAMES)
    if usual is not None:
        return usual
    wordy = [c for c in columns if c.lower() not in LABEL_NAMES and _is_text(table[c])]
    if len(wordy) == 1:
        return wordy[0]
    if any(map(_reads_like_a_text, columns)) or _found_below(table):
        raise _no_header(table, where)
    raise DataError(
        f"{where}: no text column found among {_listed(list(table))}.{_nearest(columns, TEXT_NAMES)} "
        "Name it with --text-column."
    )


def doubtful_header(table: Table, column: str, named: str | None, kind: Format | None, where: str) -> list[str]:
    """Return a warning if the names of the text column or of others read like data: the file may have no header.

    JSON lines and parquet always name their columns, and a column named by the user is not a guess.
    """
    if named is not None or kind not in ("csv", "tsv"):
        return []
    if _reads_like_a_text(column):
        return [
            f"{where}: the first line was taken as the column's name ({shortened(column)!r}), not as a text. If the "
            "file has no header, put a line with a name above it, such as text."
        ]
    if (name := _found_below(table)) is not None:
        return [
            f"{where}: the first line ({_first_line(table)}) was taken as names of columns, but {shortened(name)!r} "
            "is also a value of its column. If the file has no header, put a line of names above it: text,label."
        ]
    return []


def _found_below(table: Table) -> str | None:
    """Return a column's name that is also one of its values, as the first label of a file without a header would be.

    Not where a name is a usual one, where all are found below, since that is a header once more, or where all are
    numbers, as pandas writes for columns without names.
    """
    names = [name for name in table if name.strip()]
    if _usual(names, TEXT_NAMES + LABEL_NAMES) is not None or all(name.strip().isdecimal() for name in names):
        return None
    found = [n for n in names if any(isinstance(v, str) and v.strip() == n.strip() for v in table[n])]
    return found[0] if found and len(found) < len(names) else None


def _first_line(table: Table) -> str:
    return ", ".join(shortened(repr(column)) for column in table)


def _no_header(table: Table, where: str) -> DataError:
    told = f"{where}: the first line ({_first_line(table)}) reads like data."
    return DataError(f"{told} Put a line of names above it: text,label.")


def _reads_like_a_text(name: str) -> bool:
    return len(name.split()) >= 3 or len(name) > 40


def label_column(table: Table, named: str | None, where: str) -> str | None:
    """Return the label column: the one named, one with a usual name, or None."""
    columns = list(table)
    if named is not None:
        return _named(columns, named, where, "--label-column")
    return _usual(columns, LABEL_NAMES)


def require_label_column(table: Table, named: str | None, text: str, where: str) -> str:
    """Return the label column; if there are only two columns, it may be the one that is not the text."""
    if named is not None:
        return _named(list(table), named, where, "--label-column")
    others = [c for c in table if c != text]
    found = _usual(others, LABEL_NAMES)
    if found is not None:
        return found
    if len(others) == 1:
        return others[0]
    if _found_below(table):
        raise _no_header(table, where)
    raise DataError(
        f"{where}: no label column found among {_listed(list(table))}.{_nearest(others, LABEL_NAMES)} "
        "Name it with --label-column."
    )


def named_column(table: Table, named: str, where: str, option: str) -> list[Any]:
    """Return the values of a column that must exist."""
    return table[_named(list(table), named, where, option)]


def _named(columns: list[str], named: str, where: str, option: str) -> str:
    if named in columns:
        return named
    hint = did_you_mean(named, columns)
    raise DataError(f"{where} has no column {named!r} ({option}); it has {_listed(columns)}.{hint}")


def _usual(columns: Sequence[str], names: Sequence[str]) -> str | None:
    by_lower = {column.strip().lower(): column for column in reversed(columns)}
    return next((by_lower[name] for name in names if name in by_lower), None)


def _is_text(values: list[Any]) -> bool:
    strings = [v for v in values[:200] if isinstance(v, str) and v.strip()]
    return bool(strings) and sum(" " in v.strip() or len(v) > 20 for v in strings) >= len(strings) / 2


def _nearest(columns: list[str], names: Sequence[str]) -> str:
    long = [column for column in columns if len(column) >= 4]  # two shared letters make "id" near to "kind"
    near = {column: max(SequenceMatcher(None, column.lower(), name).ratio() for name in names) for column in long}
    best = max(near, key=lambda column: near[column], default=None)
    return f" Did you mean {best!r}?" if best is not None and near[best] >= 0.6 else ""


def _listed(columns: list[str]) -> str:
    return ", ".join(map(repr, columns)) or "no columns"
