"""The same rows in every format the package reads and writes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_table(path: Path, texts: Sequence[str], labels: Sequence[str]) -> Path:
    rows = [{"text": t, "label": y or None} for t, y in zip(texts, labels, strict=True)]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, ["text", "label"], delimiter=_delimiter(path))
            writer.writeheader()
            writer.writerows(rows)
    return path


def read_table(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return read_csv(path.read_text(), _delimiter(path))


def read_csv(text: str, delimiter: str = ",") -> list[dict]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix == ".tsv" else ","
