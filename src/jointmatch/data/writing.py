"""Write tables chunk by chunk, in the format given by the file's extension; a file is written whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import errno
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from jointmatch.data.tables import FORMATS, Format, Table
from jointmatch.errors import DataError, OutputError, did_you_mean
from jointmatch.files import write_atomically


def check_target(target: Path, source: str | Path) -> None:
    """Raise an error if the target's format is unknown or the target is the input file itself."""
    _format(target)
    if target.exists() and Path(source).exists() and target.samefile(source):
        raise OutputError(f"{target} is the input itself, which would be lost. Name another file with --output.")


def write_file(chunks: Iterable[Table], target: Path, types: Mapping[str, Any] | None = None) -> int:
    """Write all rows to a file; return their number.

    ``types`` gives the arrow types of parquet columns; the types of other columns are inferred from the first chunk.
    """
    kind = _format(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        count: list[int] = []
        write_atomically(target, lambda path: count.append(_write(chunks, path, kind, types or {})))
        return count[0]
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OutputError(f"{target} cannot be written: {error.strerror}.") from None


def _format(target: Path) -> Format:
    found = FORMATS.get(target.suffix.lower())
    if found is None:
        told = f"{target} has the extension {target.suffix or '(none)'!r}, wanted one of {', '.join(FORMATS)}."
        sheet = target.suffix.lower() in (".xls", ".xlsx", ".ods")
        advice = " Spreadsheets open .csv." if sheet else did_you_mean(target.suffix, FORMATS)
        raise OutputError(f"{told}{advice}")
    return found


def _write(chunks: Iterable[Table], path: Path, kind: Format, types: Mapping[str, Any]) -> int:
    if kind == "parquet":
        return _write_parquet(chunks, path, types)
    # Half a surrogate pair is not a character: JSON has an escape for it, other formats get a question mark.
    odd = "backslashreplace" if kind == "jsonl" else "replace"
    with path.open("w", encoding="utf-8", errors=odd, newline="") as file:
        return write_text(chunks, file, kind)


def write_text(chunks: Iterable[Table], file: IO[str], kind: Format) -> int:
    """Write rows to an open file as ``csv``, ``tsv`` or ``jsonl``; return their number."""
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


def _write_parquet(chunks: Iterable[Table], path: Path, types: Mapping[str, Any]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = 0
    with contextlib.ExitStack() as stack:
        writer = None
        for chunk in map(_encodable, chunks):
            try:
                if writer is None:
                    schema = pa.schema([(name, types.get(name) or _type(values)) for name, values in chunk.items()])
                    writer = stack.enter_context(pq.ParquetWriter(path, schema))
                blank = [None] * len(next(iter(chunk.values())))  # some chunks of JSON lines may lack a key
                columns = {name: chunk.get(name, blank) for name in writer.schema.names}
                table = pa.table(columns, schema=writer.schema)
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise DataError(f"The rows do not fit one parquet schema ({error}). Write .jsonl instead.") from None
            writer.write_table(table)
            count += table.num_rows
    return count


def _type(values: list[Any]) -> Any:
    import pyarrow as pa

    found = pa.array(values).type
    # A column that is empty so far has no type yet; text can hold whatever follows.
    return pa.string() if pa.types.is_null(found) else found


def _encodable(chunk: Table) -> Table:
    return {
        name: [v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in values]
        for name, values in chunk.items()
    }
