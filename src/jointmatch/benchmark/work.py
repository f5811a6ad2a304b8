"""One unit of work: the seeds of a row given to a worker, either one or several to train side by side."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jointmatch.benchmark.cell import Cell
from jointmatch.benchmark.outcome import record_of, without_words
from jointmatch.benchmark.store import Record, Store
from jointmatch.config import Settings, merge
from jointmatch.data import Splits

ROWS = (
    3  # rows that a process must train on a GPU for compiling layers to pay off: they share what the first one compiles
)


@dataclass(frozen=True)
class Unit:
    """Cells that differ only in their seed, to be run by one process; several are trained side by side."""

    cells: Sequence[Cell]
    results: Path
    data_dir: str | None = None
    deadline: float = float("inf")  # by the machine's clock, as workers do not share a process clock
    compiled: bool = False  # the layers, on a GPU


def run_unit(unit: Unit) -> list[tuple[Cell, Record]]:
    """Run the cells not finished yet, keep their records and return them; run none after the deadline.

    Cells that another process is running are left to it, and those it has finished by now are not run again.
    """
    if time.time() > unit.deadline:
        return []
    store = Store(unit.results)
    with store.at_work(unit.cells) as own:
        left = [cell for cell in own if store.find(cell) is None]  # another process may have been quicker
        done = list(zip(left, _run(left, unit.data_dir, unit.compiled) if left else [], strict=True))
        for cell, record in done:
            store.write(cell.path, record)
            _keep_networks(store, cell, record)
    return done


def _keep_networks(store: Store, cell: Cell, record: Record) -> None:
    """Keep the networks of a run with a word reader as the cell of its own that they are, unless it is finished."""
    networks = cell.without_words()
    if networks is not None and store.find(networks) is None:
        store.write(networks.path, without_words(networks, record))


def _run(cells: Sequence[Cell], data_dir: str | None, compiled: bool) -> list[Record]:
    from jointmatch.data.datasets import benchmark_digest
    from jointmatch.run import run, run_seeds

    splits = [splits_of(cell, data_dir) for cell in cells]
    asked, seeds = cells[0].asked, [cell.seed for cell in cells]
    try:
        outcomes = [run(splits[0], asked)] if len(cells) == 1 else run_seeds(splits, compiling(asked, compiled), seeds)
        digest = None if cells[0].data == "demo" else benchmark_digest(cells[0].data, data_dir)
        return [record_of(*parts, digest) for parts in zip(cells, outcomes, splits, strict=True)]
    finally:
        give_memory_back()


def compiling(asked: Settings, compiled: bool) -> Settings:
    """The requested settings, with compiled layers on a GPU unless the experiment says otherwise."""
    from jointmatch.networks import find_device

    device = find_device(asked.get("training", {}).get("device", "auto"))
    usual = {"network": {"compiled": "on"}} if compiled and device.type == "cuda" else {}
    return merge(usual, asked)


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
    """Thin pool, dev and test, each class by the same factor more than the one before it, in a drawn order."""
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


def give_memory_back() -> None:
    """Free unused memory: many processes share one GPU, and what the last run held is of no use to the next."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def units_of(cells: Iterable[list[Cell]], size: int = 1) -> list[list[Cell]]:
    """Cells of the same row in lists of ``size``, the first seeds of all rows first, so that a table fills evenly."""
    rows = [[row[start : start + size] for start in range(0, len(row), size)] for row in cells]
    longest = max(map(len, rows), default=0)
    return [row[turn] for turn in range(longest) for row in rows if turn < len(row)]
