"""Rows of CSV and TSV, as spreadsheets of many countries and programs save them."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator

from jointmatch.errors import DataError, shortened

_SEPARATORS = ",;\t"
_NAMED_SEPARATOR = re.compile(r'"?sep=(\t|[^\w\s"])"?\s*', re.IGNORECASE)


def delimited_rows(lines: Iterator[str], separator: str | None, name: str) -> Iterator[dict[str, str]]:
    """Yield the rows below the header; without a ``separator`` it is the one that the header has most of."""
    csv.field_size_limit(sys.maxsize)  # a single text may be larger than csv's default of 128 KiB
    first = next(lines, "")
    told = _NAMED_SEPARATOR.fullmatch(first)  # Excel reads and writes such a line
    reader = csv.reader(_chain(first, lines), delimiter=told[1] if told else separator or _likely(first), strict=True)
    try:
        if told:
            next(reader)
        header = next(reader, [])
        # pandas writes its index in front without a name; others are what a spreadsheet adds to its columns.
        named = [i for i, column in enumerate(header) if i == 0 or column.strip()]
        names = [header[i] for i in named]
        _check_names(names, name)
        start = reader.line_num + 1
        for row in reader:
            if row and (len(row) != len(header) or len(named) != len(header)):
                _check_row(row, header, f"{name}, line {start}")
                row = [row[i] for i in named]
            start = reader.line_num + 1
            if row:
                yield dict(zip(names, row, strict=True))
    except csv.Error as error:
        raise DataError(f"{name}, line {reader.line_num}: {error}. A quotation mark may be left open.") from None


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _likely(header: str) -> str:
    # Spreadsheets in many countries save "CSV" with semicolons.
    return max(_SEPARATORS, key=lambda mark: (header.count(mark), mark == ","))


def _check_names(names: list[str], where: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{where} has the column {twice[0]!r} more than once. Give each column its own name.")


def _check_row(row: list[str], header: list[str], place: str) -> None:
    if len(row) != len(header):
        raise DataError(
            f"{place}: {len(row)} fields, but the header has {len(header)} ({', '.join(header)}). "
            "Quote a text that contains the separator or a line break."
        )
    for number, (column, cell) in enumerate(zip(header[1:], row[1:], strict=True), start=2):
        if cell.strip() and not column.strip():
            raise DataError(
                f"{place}: column {number}, a column without a name, holds {shortened(cell)!r}. "
                "Give it a name in the header, or empty it."
            )
