"""Predict over files of any size: rows stream through in chunks, the output is whole or absent."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from jointmatch.data import as_text
from jointmatch.data.columns import text_column as find_text_column
from jointmatch.data.tables import Format, Table, check_encoding, format_of, parse, read_chunks
from jointmatch.errors import DataError, OutputError
from jointmatch.files import write_atomically
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
    warn: Callable[[str], None] = lambda text: None,
) -> int:
    """Copy rows from ``source`` to ``target`` with ``prediction`` and ``confidence`` added; return their number.

    ``source`` may be ``-`` for the standard input; without ``target`` rows go to the standard output.
    The model is loaded only once the input has proved readable.
    """
    chunks = _read(source, encoding)
    first = next(chunks, None)
    if first is None:
        name = "The standard input" if str(source) == "-" else source
        raise DataError(f"{name} has no rows. Wanted a line of column names, such as text, and at least one row.")
    model = load_model()
    named = text_column or (model.facts.text_column if model.facts.text_column in first else None)
    column = find_text_column(first, named, str(source))
    replaced = [name for name in _added_columns(model, probabilities) if name in first]
    if column in replaced:
        raise DataError(f"The texts of {source} stand in {column!r}, where predictions would go. Rename the column.")
    if replaced:
        warn(f"The input has {', '.join(map(repr, replaced))} already: replaced by the new predictions.")

    def rows() -> Iterator[Table]:
        for chunk in _with_first(first, chunks):
            if column not in chunk:
                raise DataError(f"{source} has rows without the column {column!r}.")
            yield _predicted(model, chunk, column, probabilities)

    if target is None:
        return _write_text(rows(), sys.stdout, stdout_format)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        count: list[int] = []
        write_atomically(target, lambda path: count.append(_write(rows(), path, format_of(target))))
        return count[0]
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OutputError(f"{target} cannot be written: {error.strerror}.") from None


def _read(source: str | Path, encoding: str) -> Iterator[Table]:
    if str(source) != "-":
        return read_chunks(source, encoding)
    check_encoding(encoding)
    piped = cast(io.BufferedReader, sys.stdin.buffer)
    kind: Format = "jsonl" if piped.peek(64).lstrip()[:1] == b"{" else "csv"
    return parse(piped, kind, encoding, "the standard input")


def _with_first(first: Table, rest: Iterator[Table]) -> Iterator[Table]:
    yield first
    yield from rest


def _added_columns(model: Model, probabilities: bool) -> list[str]:
    of_classes = [f"probability_{name}" for name in model.classes] if probabilities else []
    return ["prediction", "confidence", *of_classes]


def _predicted(model: Model, chunk: Table, column: str, probabilities: bool) -> Table:
    probs = model.network_probs([as_text(v) for v in chunk[column]]).mean(0)
    best = probs.argmax(-1)
    columns = [[model.classes[i] for i in best], np.round(probs.max(-1), 6).tolist()]
    if probabilities:
        columns += np.round(probs, 6).T.tolist()
    return {**chunk, **dict(zip(_added_columns(model, probabilities), columns, strict=True))}


def _write(chunks: Iterator[Table], path: Path, kind: Format) -> int:
    if kind == "parquet":
        return _write_parquet(chunks, path)
    with path.open("w", encoding="utf-8", newline="") as file:
        return _write_text(chunks, file, kind)


def _write_text(chunks: Iterator[Table], file: IO[str], kind: Format) -> int:
    count = 0
    writer: Any = None
    for chunk in chunks:
        names, rows = list(chunk), list(zip(*chunk.values(), strict=True))
        count += len(rows)
        if kind == "jsonl":
            file.writelines(
                json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=str) + "\n" for row in rows
            )
            continue
        if writer is None:
            writer = csv.writer(file, delimiter="\t" if kind == "tsv" else ",", lineterminator="\n")
            writer.writerow(names)
            header = names
        writer.writerows([dict(zip(names, row, strict=True)).get(name) for name in header] for row in rows)
    file.flush()
    return count


def _write_parquet(chunks: Iterator[Table], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = 0
    with contextlib.ExitStack() as stack:
        writer = None
        for chunk in chunks:
            if writer is None:
                # A column that is empty so far has no type yet; text takes whatever may come.
                fields = [f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in pa.table(chunk).schema]
                writer = stack.enter_context(pq.ParquetWriter(path, pa.schema(fields)))
            try:
                blank = [None] * len(chunk["prediction"])  # JSON lines may lack a key for a while
                columns = {name: chunk.get(name, blank) for name in writer.schema.names}
                table = pa.table(columns, schema=writer.schema)
            except (pa.ArrowException, TypeError, ValueError) as error:
                raise DataError(f"The rows do not fit one parquet schema ({error}). Write .jsonl instead.") from None
            writer.write_table(table)
            count += table.num_rows
    return count
