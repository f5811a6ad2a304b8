"""Read CSV, TSV, JSON lines and parquet in chunks of rows, with errors that say where in the file they occur.

A chunk is a dict of columns of equal length. Reading is lazy, so that predictions can be made
on a file larger than memory; ``read_table`` joins all chunks for training.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal

from jointmatch.data.delimited import delimited_rows
from jointmatch.errors import DataError, MissingExtraError, did_you_mean

Table = dict[str, list[Any]]
Format = Literal["csv", "tsv", "jsonl", "parquet"]

FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
CHUNK = 1024
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
_ADVICE = {
    ".json": "Write one object per line and call it .jsonl.",
    ".tab": "Columns with tabs between them are a .tsv, with one line of names above them.",
    ".txt": "Of one text per line make a .tsv: put a first line 'text' above them.",
    **dict.fromkeys((".xls", ".xlsx", ".ods"), "Save a spreadsheet as CSV first."),
}
_SIGNS = {  # longer than the file type's magic bytes where those could also begin a column name
    b"PAR1\x15": "a parquet file. Give it as a file whose name ends in .parquet.",
    b"PK\x03\x04": "a spreadsheet or another zip archive. Save a spreadsheet as CSV, and unpack an archive.",
    b"\x1f\x8b\x08": "compressed with gzip. Unpack it first, with gunzip.",
}


def format_of(path: Path) -> Format:
    """Return the format that the file's extension stands for."""
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        known = ", ".join(FORMATS)
        told = f"{path} has the extension {path.suffix or '(none)'!r}, wanted one of {known}."
        raise DataError(f"{told} {_advice(path.suffix)}".rstrip())
    return found


def _advice(suffix: str) -> str:
    return _ADVICE.get(suffix.lower(), did_you_mean(suffix, FORMATS).strip())


def read_table(path: str | Path, encoding: str = "utf-8") -> Table:
    """Read a whole file."""
    table: Table = {}
    rows = 0
    for chunk in read_chunks(path, encoding):
        size = len(next(iter(chunk.values()), []))
        for name in {**table, **chunk}:  # some JSON lines may lack a key
            table.setdefault(name, [None] * rows).extend(chunk.get(name, [None] * size))
        rows += size
    if not rows:
        raise DataError(f"{path} has no rows. Wanted a file with a header and at least one row.")
    return table


def read_chunks(path: str | Path, encoding: str = "utf-8", size: int = CHUNK) -> Iterator[Table]:
    """Yield the file's rows as tables of at most ``size`` rows; an empty file is an error."""
    path = Path(path)
    check_encoding(encoding)
    kind = check_file(path)
    try:
        if kind == "parquet":
            yield from _parquet(path, size)
            return
        with path.open("rb") as file:
            yield from parse(file, kind, encoding, str(path), size)
    except PermissionError:
        raise DataError(f"{path} may not be read: permission denied.") from None


def check_file(path: str | Path) -> Format:
    """Return the file's format; raise an error if it cannot be a table, as far as can be told without reading it."""
    path = Path(path)
    try:
        if not path.exists():
            raise DataError(f"There is no file {path}.{_nearby(path)}")
        if path.is_dir():
            raise DataError(f"{path} is a folder, wanted a file.")
        kind = format_of(path)
        if path.stat().st_size == 0:
            raise DataError(f"{path} is empty. Wanted a file with a header and at least one row.")
    except PermissionError:
        raise DataError(f"{path} may not be read: permission denied.") from None
    return kind


def parse(file: io.BufferedReader, kind: Format, encoding: str, name: str, size: int = CHUNK) -> Iterator[Table]:
    """Yield tables from an open text file whose format is known."""
    _check_signs(file.peek(8), kind, name)
    lines = _lines(file, encoding, name)
    separator = "\t" if kind == "tsv" else None
    rows = _json_rows(lines, name) if kind == "jsonl" else delimited_rows(lines, separator, name)
    chunk: list[dict[str, Any]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield _columns(chunk)
            chunk = []
    if chunk:
        yield _columns(chunk)


def _columns(rows: list[dict[str, Any]]) -> Table:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _check_signs(beginning: bytes, kind: Format, name: str) -> None:
    for sign, told in _SIGNS.items():
        if beginning.startswith(sign):
            raise DataError(f"{name} is not {kind} but {told}")


def check_encoding(encoding: str) -> None:
    """Raise an error if the name is not that of a text encoding."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # also rejects codecs that are not for text, such as hex
    except LookupError:
        raise DataError(f"Unknown encoding {encoding!r}. Known ones include utf-8, latin-1, cp1252, utf-16.") from None


def _nearby(path: Path) -> str:
    if not path.parent.is_dir():
        return f" The folder {path.parent} does not exist either."
    return did_you_mean(path.name, (p.name for p in path.parent.iterdir()))


def _lines(file: IO[bytes], encoding: str, name: str) -> Iterator[str]:
    """Decode line by line, so that a bad byte can be reported with its offset in the file."""
    if codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):  # lines cannot be split before decoding
        yield from _decoded_whole(file, encoding, name)
        return
    offset = 0
    for number, raw in enumerate(file, start=1):
        if b"\x00" in raw:
            raise DataError(
                f"{name} has a NUL byte at byte {offset + raw.index(0)} (line {number}): it looks like a binary file, "
                "or text in another encoding (try --encoding utf-16)."
            )
        try:
            line = raw.decode(encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{name} is not {encoding}: byte 0x{raw[error.start]:02x} at byte {offset + error.start} "
                f"(line {number}) cannot be decoded. Name the right one, for example --encoding cp1252."
            ) from None
        yield line.removeprefix("\ufeff") if number == 1 else line
        offset += len(raw)


def _decoded_whole(file: IO[bytes], encoding: str, name: str) -> Iterator[str]:
    try:
        for number, line in enumerate(io.TextIOWrapper(file, encoding=encoding, newline=""), start=1):
            yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeError as error:
        raise DataError(f"{name} is not {encoding}: {error}. Name the right encoding with --encoding.") from None


def _json_rows(lines: Iterator[str], name: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{name}, line {number}: not JSON ({error}). Wanted one object per line.") from None
        if not isinstance(row, dict):
            told = f"{name}, line {number}: {type(row).__name__}, wanted an object"
            advice = " Give each object of an array a line, without brackets." if isinstance(row, list) else ""
            raise DataError(f'{told} such as {{"text": "..."}} in each line.{advice}')
        yield row


def _parquet(path: Path, size: int) -> Iterator[Table]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(f"Reading {path} needs pyarrow: pip install pyarrow.") from None
    try:
        with pq.ParquetFile(path) as file:
            if file.metadata.num_rows == 0:
                raise DataError(f"{path} has no rows.")
            index = _unnamed_index(file.schema_arrow.metadata)
            for batch in file.iter_batches(batch_size=size):
                yield {name: values for name, values in batch.to_pydict().items() if name not in index}
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise
        raise DataError(f"{path} is not a parquet file, or it is damaged: {str(error).rstrip('.')}.") from None


def _unnamed_index(metadata: Mapping[bytes, bytes] | None) -> set[str]:
    """Return the columns in which pandas stored row numbers that the user never saw as a column.

    An index with a name is the user's own, such as the numbers of tickets, and stays.
    """
    try:
        marked = json.loads((metadata or {}).get(b"pandas", b"{}"))["index_columns"]
        return {name for name in marked if _UNNAMED_INDEX.fullmatch(name)}
    except (ValueError, KeyError, TypeError):  # a range of numbers, which is no column, or not pandas' metadata
        return set()


def parquet_types(path: Path, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the arrow type of each column of a parquet file, except those in ``without``."""
    import pyarrow.parquet as pq

    return {field.name: field.type for field in pq.read_schema(path) if field.name not in without}
