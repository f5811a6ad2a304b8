"""Where finished cells are kept: one JSON file each, so that results of several machines merge by copying files.

A record is written whole or not at all, so a killed run loses only what it was computing. Files under ``earlier`` hold
many runs each, from before cells had names or from searches of a recipe that has changed since: they are found by
experiment, variant, data and seed, shown where a row has no cells, and never counted as finished.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from jointmatch.benchmark.cell import Cell
from jointmatch.errors import DataError, OutputError
from jointmatch.files import locked, write_text

FORMAT = 1
LOCK = ".at_work"
Record = dict[str, Any]


class Store:
    """The cells in one folder of results.

    Args:
        folder: Folder of results; its ``cells`` hold the records, its ``spells`` how long they took. It need not exist.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def find(self, cell: Cell) -> Record | None:
        """The record of a cell, if it has been run as requested."""
        record = self.read(cell.path)
        try:
            if record is None or not cell.same(record["settings"]):
                return None
            _check(record, cell)
            return record if not cell.test or "test" in record["scores"] else None
        except (KeyError, TypeError, AttributeError):
            raise DataError(f"{self._cells / cell.path} is not a whole record. Delete it and run it again.") from None

    def read(self, path: str) -> Record | None:
        """The record at a path, if there is one."""
        file = self._cells / path
        return _load(file) if file.is_file() else None

    def write(self, path: str, record: Record) -> None:
        """Keep a record, written whole or not at all."""
        _keep(self._cells / path, record)

    @contextmanager
    def at_work(self, cells: Sequence[Cell]) -> Iterator[list[Cell]]:
        """Yield the cells that no other process is running; they are this one's until the block ends."""
        self._cells.mkdir(parents=True, exist_ok=True)
        with locked(self.folder / LOCK, [cell.path for cell in cells]) as own:
            yield [cell for cell in cells if cell.path in own]

    def check_writable(self) -> None:
        """Raise if nothing could be kept, before anything is computed."""
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._cells):
                pass
        except OSError as error:
            raise OutputError(
                f"Results cannot be written to {self.folder} ({error.strerror}). Name another folder with --results."
            ) from None

    def spells(self, experiment: str) -> list[Record]:
        """Records of the spells of an experiment, oldest first."""
        return [_load(file) for file in sorted(self._spells(experiment).glob("*.json"))]

    def write_spell(self, experiment: str, when: str, record: Record) -> None:
        """Keep the record of a spell."""
        _keep(self._spells(experiment) / f"{when}.json", record)

    def earlier(self, experiment: str, variant: str, data: str, labels: int) -> list[Record]:
        """Runs from before there were cells, sorted by seed."""
        wanted = (experiment, variant, data, labels)
        found = [r for r in self._earlier if (r["experiment"], r["variant"], r["data"], r["labels"]) == wanted]
        return sorted(found, key=lambda record: record["seed"])

    @property
    def _cells(self) -> Path:
        return self.folder / "cells"

    def _spells(self, experiment: str) -> Path:
        return self.folder / "spells" / experiment

    @cached_property
    def _earlier(self) -> list[Record]:
        files = sorted((self.folder / "earlier").glob("**/*.json"))
        return [{"machine": pack["machine"], **record} for pack in map(_load, files) for record in pack["runs"]]


def _check(record: Record, cell: Cell) -> None:
    """Raise KeyError or TypeError unless this is the cell's seed, with scores that are numbers, and its reference."""
    own = [record["baselines"][cell.row]] if cell.reference and cell.row else []
    for scores in (record["scores"], record["scores_of_last_step"], *own):
        numbers = [value for part in scores.values() for value in part.values()]
        if not all(isinstance(number, (int, float)) and math.isfinite(number) for number in numbers):
            raise TypeError
    if record["seed"] != cell.seed or not isinstance(record["backbone"], dict):
        raise TypeError


def _keep(file: Path, record: Record) -> None:
    write_text(file, dumps({"format": FORMAT, **record}))


def _load(file: Path) -> Any:
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{file} is not JSON ({error}). Delete it and run the experiment again.") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise DataError(f"{file} is no record of a cell this version can read (format {FORMAT}).")
    return record


def dumps(record: Record, depth: int = 2) -> str:
    """JSON with one line per entry in the outer levels and one per inner value: small, and readable in a diff."""
    return _lines(record, depth, "") + "\n"


def _lines(value: Any, depth: int, margin: str) -> str:
    if not depth or not isinstance(value, dict | list) or not value or _is_short(value):
        return json.dumps(value, ensure_ascii=False)
    inner = margin + " "
    items: Iterable[str]
    if isinstance(value, dict):
        items = (f"{inner}{json.dumps(k)}: {_lines(v, depth - 1, inner)}" for k, v in value.items())
        return "{\n" + ",\n".join(items) + f"\n{margin}}}"
    return "[\n" + ",\n".join(f"{inner}{_lines(v, depth - 1, inner)}" for v in value) + f"\n{margin}]"


def _is_short(value: Any) -> bool:
    return len(value) < 8 and not any(
        isinstance(v, dict | list) for v in (value.values() if isinstance(value, dict) else value)
    )
