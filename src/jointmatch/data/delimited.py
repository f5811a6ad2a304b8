"""Rows of CSV and TSV files, as saved by spreadsheet programs in many countries."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from jointmatch.errors import DataError, shortened

if TYPE_CHECKING:
    from _csv import Reader

_SEPARATORS = ",;\t"
_NAMED_SEPARATOR = re.compile(r'"?sep=(\t|[^\w\s"])"?\s*', re.IGNORECASE)


_PIPES = re.compile(r'"?[\w .-]+"?(\|"?[\w .-]+"?)+\s*')


def delimited_rows(lines: Iterator[str], separator: str | None, name: str) -> Iterator[dict[str, str]]:
    """Yield the rows below the header; without a ``separator``, use the most frequent one in the header."""
    csv.field_size_limit(sys.maxsize)  # a single text may be larger than csv's default of 128 KiB
    lines = _at_returns(lines)
    first = next(lines, "")
    told = _NAMED_SEPARATOR.fullmatch(first)  # Excel reads and writes a "sep=" line
    if _PIPES.fullmatch(first):
        raise DataError(
            f"{name} seems to have pipes between its columns ({shortened(first.strip())}). The separators that are "
            "read are comma, semicolon and tab. Put the line sep=| above all others, or save it with one of these."
        )
    reader = csv.reader(chain([first], lines), delimiter=told[1] if told else separator or _likely(first), strict=True)
    try:
        if told:
            next(reader)
        yield from _rows(reader, name)
    except csv.Error as error:
        advice = "A quotation mark may be left open."
        if "new-line" in str(error):
            error, advice = csv.Error("a carriage return within a field"), "Quote the text, or take it out."
        raise DataError(f"{name}, line {reader.line_num}: {error}. {advice}") from None


def _rows(reader: Reader, name: str) -> Iterator[dict[str, str]]:
    header = next(reader, [])
    # An unnamed first column is the index that pandas writes; other unnamed ones are added by spreadsheets.
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


def _at_returns(lines: Iterator[str]) -> Iterator[str]:
    """Split lines at carriage returns if the first one ends with a bare one, as written by old Macs and their Excel."""
    first = next(lines, "")
    bare = re.sub(r'"[^"]*("|$)', "quoted", first)
    if not re.search(r"\r(?!\r*\n|$)", bare):
        return chain([first], lines)
    return (part for line in chain([first], lines) for part in re.split("(?<=\r)(?!\n)", line) if part)


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
