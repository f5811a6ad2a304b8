"""Predict on files of any size: rows stream through in chunks, and the output is written whole or not at all."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import numpy as np

from jointmatch.data import as_texts
from jointmatch.data.account import ColumnAccount, TextAccount
from jointmatch.data.columns import doubtful_header
from jointmatch.data.columns import text_column as find_text_column
from jointmatch.data.tables import (
    Format,
    Table,
    check_encoding,
    check_file,
    format_of,
    parquet_types,
    parse,
    read_chunks,
)
from jointmatch.data.writing import write_file, write_text
from jointmatch.errors import DataError
from jointmatch.listener import Listener
from jointmatch.model import Model


def predict_file(
    load_model: Callable[[], Model],
    source: str | Path,
    target: Path | None = None,
    *,
    text_column: str | None = None,
    encoding: str = "utf-8",
    probabilities: bool = False,
    stdout_format: Format = "csv",
    listener: Listener | None = None,
) -> int:
    """Copy rows from ``source`` to ``target`` with ``prediction`` and ``confidence`` added; return their number.

    ``source`` may be ``-`` for standard input; without ``target``, rows go to standard output.
    The model is loaded only once the input has proved readable.
    """
    listener = listener or Listener()
    chunks, kind = _read(source, encoding)
    first = next(chunks, None)
    if first is None:
        name = "The standard input" if str(source) == "-" else source
        raise DataError(f"{name} has no rows. Wanted a line of column names, such as text, and at least one row.")
    model = load_model()
    named = text_column or (model.facts.text_column if model.facts.text_column in first else None)
    column = find_text_column(first, named, str(source))
    _tell_of_column(first, column, named, kind, source, listener)
    added = _added_columns(model, probabilities)
    _check_replaced([name for name in added if name in first], column, source, listener)
    where = "the standard input" if str(source) == "-" else str(source)
    account, left_out = TextAccount(), ColumnAccount([*first, *added])

    def rows() -> Iterator[Table]:
        for chunk in _with_first(first, chunks):
            if column not in chunk:
                raise DataError(f"{source} has rows without the column {column!r}.")
            before = left_out.rows
            left_out.take(chunk)
            texts = account.take(as_texts(chunk[column], f"{column!r} in {where}", before))
            yield {**chunk, **_predictions(model, texts, probabilities)}
            listener.advance(len(texts))

    if target is not None or not sys.stdout.isatty():  # a progress bar would garble rows on the same screen
        listener.stage("predicting", None)
    if target is None:
        written, count = stdout_format, write_text(rows(), sys.stdout, stdout_format)
    else:
        types = parquet_types(Path(source), added) if kind == "parquet" else {}
        written, count = format_of(target), write_file(rows(), target, types)
    listener.done()
    for found in (account.told("predicted all the same"), None if written == "jsonl" else left_out.told()):
        if found:
            listener.warn(found)
    return count


def _check_replaced(replaced: list[str], column: str, source: str | Path, listener: Listener) -> None:
    """Warn of input columns that predictions replace; refuse to replace the texts themselves."""
    if column in replaced:
        raise DataError(f"The texts of {source} stand in {column!r}, where predictions would go. Rename the column.")
    if replaced:
        listener.warn(f"The input has {', '.join(map(repr, replaced))} already: replaced by the new predictions.")


def _tell_of_column(
    first: Table, column: str, named: str | None, kind: Format, source: str | Path, listener: Listener
) -> None:
    """Say which column was chosen if the user named none, and what is doubtful about it."""
    if named is None:
        listener.note(f"Texts from {column!r}; --text-column names another.")
    where = "The standard input" if str(source) == "-" else str(source)
    for doubt in doubtful_header(first, column, named, kind, where):
        listener.warn(doubt)


def _read(source: str | Path, encoding: str) -> tuple[Iterator[Table], Format]:
    if str(source) != "-":
        return read_chunks(source, encoding), check_file(source)
    check_encoding(encoding)
    piped = cast(io.BufferedReader, sys.stdin.buffer)
    beginning = piped.peek(64).decode(encoding, errors="ignore").removeprefix("\ufeff").lstrip()
    kind: Format = "jsonl" if re.match(r"(\[\s*)?\{", beginning) else "csv"  # an array is refused with advice
    return parse(piped, kind, encoding, "the standard input"), kind


def _with_first(first: Table, rest: Iterator[Table]) -> Iterator[Table]:
    yield first
    yield from rest


def _added_columns(model: Model, probabilities: bool) -> list[str]:
    of_classes = [f"probability_{name}" for name in model.classes] if probabilities else []
    return ["prediction", "confidence", *of_classes]


def _predictions(model: Model, texts: list[str], probabilities: bool) -> Table:
    probs = model.probs(texts)
    best = probs.argmax(-1)
    columns = [[model.classes[i] for i in best], np.round(probs.max(-1), 6).tolist()]
    if probabilities:
        columns += np.round(probs, 6).T.tolist()
    return dict(zip(_added_columns(model, probabilities), columns, strict=True))
