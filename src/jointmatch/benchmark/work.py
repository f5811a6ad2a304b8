"""One unit of work: the seeds of a row that a worker is given. Today one at a time."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jointmatch.benchmark.cell import Cell
from jointmatch.benchmark.outcome import record_of
from jointmatch.benchmark.store import Record, Store
from jointmatch.data import Splits


@dataclass(frozen=True)
class Unit:
    """Cells that differ in their seed alone, to be run by one process.

    Engines that train several seeds side by side want more than one here: ``run_unit`` is where they come in.
    """

    cells: Sequence[Cell]
    results: Path
    data_dir: str | None = None
    deadline: float = float("inf")  # by the machine's clock: workers do not share a process's


def run_unit(unit: Unit) -> list[tuple[Cell, Record]]:
    """Run what is not finished by now, keep each record at once, and give them back; none after the deadline."""
    store, done = Store(unit.results), []
    for cell in unit.cells:
        if time.time() > unit.deadline:
            break
        record = store.find(cell)  # another process may have been quicker
        if record is None:
            record = _run(cell, unit.data_dir)
            store.write(cell.path, record)
        done.append((cell, record))
    return done


def _run(cell: Cell, data_dir: str | None) -> Record:
    from jointmatch.run import run

    splits = splits_of(cell, data_dir)
    try:
        return record_of(cell, run(splits, cell.asked), splits)
    finally:
        _give_memory_back()


def splits_of(cell: Cell, data_dir: str | None) -> Splits:
    """The texts a cell is trained and scored on."""
    from jointmatch.data.datasets import load_benchmark
    from jointmatch.data.demo import demo_splits

    if cell.data == "demo":
        splits = demo_splits(cell.labels, cell.seed)
    else:
        splits = load_benchmark(cell.data, cell.labels, cell.seed, data_dir)
    if not cell.test:  # a search must not even see it
        splits = replace(splits, test=None)
    return thinned(splits, cell.imbalance, cell.seed) if cell.imbalance else splits


def thinned(splits: Splits, imbalance: float, seed: int) -> Splits:
    """Each class's share of pool, dev and test falls by the same factor from one to the next, in a drawn order."""
    import numpy as np

    rng = np.random.default_rng(seed)
    ranks = rng.permutation(len(splits.classes))
    shares = imbalance ** (-ranks / (len(ranks) - 1))
    kept: dict[str, Any] = {}
    for name in ("pool", "dev", "test"):
        part = getattr(splits, name)
        if part is not None:
            rows = np.flatnonzero(rng.random(len(part)) < shares[np.array(part.labels)])
            kept[name] = part.rows(rows.tolist())
    return replace(splits, **kept)


def _give_memory_back() -> None:
    """Many processes share one GPU: what the last run held is of no use to the next."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def units_of(cells: Iterable[list[Cell]], size: int = 1) -> list[list[Cell]]:
    """Cells of the same row in lists of ``size``, the first seeds of all rows first: a table fills evenly."""
    rows = [[row[start : start + size] for start in range(0, len(row), size)] for row in cells]
    longest = max(map(len, rows), default=0)
    return [row[turn] for turn in range(longest) for row in rows if turn < len(row)]
