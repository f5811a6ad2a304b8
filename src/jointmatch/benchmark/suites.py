"""Who runs an experiment and shows it: a grid of runs, or a suite that measures something else.

A suite of its own is a class with these three methods and a line in ``SUITES``; an experiment file names it with
``suite = "..."`` and tells it what it wants to know in ``[options]``.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from jointmatch.benchmark.cell import Cell, all_cells
from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.results import Results, done_and_wanted
from jointmatch.benchmark.schedule import work_off
from jointmatch.benchmark.store import Record, Store
from jointmatch.benchmark.table import Section, as_csv, sections
from jointmatch.benchmark.work import Unit, units_of
from jointmatch.errors import DataError, InputError, TrainingError


@dataclass(frozen=True)
class Options:
    """What the command line says of a run."""

    results: Path
    backbone: str = "auto"
    data_dir: str | None = None
    only: list[str] = field(default_factory=list)
    jobs: int = 1
    seconds: float = float("inf")
    say: Callable[[str], None] = print


class Suite(ABC):
    """Runs one kind of experiment."""

    @abstractmethod
    def run(self, experiment: Experiment, options: Options) -> None:
        """Fill what is missing in ``options.results``."""

    @abstractmethod
    def progress(self, experiment: Experiment, store: Store, backbone: str) -> tuple[int, int]:
        """How much is done, of how much."""

    @abstractmethod
    def tables(self, experiment: Experiment, store: Store, backbone: str, part: str | None = None) -> list[Section]:
        """What there is, and what is not run; ``part`` names a data set, or what else the suite can show alone."""

    def csv(self, experiment: Experiment, store: Store, backbone: str) -> str:
        """Every number on a line of its own."""
        lines = [[table.title, *row] for table in self.tables(experiment, store, backbone) for row in table.rows]
        return "\n".join(",".join(f'"{cell}"' if "," in cell else cell for cell in line) for line in lines)


class Grid(Suite):
    """Every variant on every data set with every seed."""

    def run(self, experiment: Experiment, options: Options) -> None:
        store, start = Store(options.results), time.time()
        rows = list(all_cells(experiment, options.backbone, options.only or None))
        rows = _with_data(rows, options)
        todo = [[cell for cell in row if store.find(cell) is None] for row in rows]
        wanted, left = sum(map(len, rows)), sum(map(len, todo))
        options.say(f"{experiment.title}: {wanted - left} of {wanted} cells are finished and kept, {left} to run.")
        place = (options.results, options.data_dir, start + options.seconds)
        units = [Unit(cells, *place) for cells in units_of(todo)]
        watch = _Watch(left, options.say)
        work_off(units, options.jobs, watch.finished, watch.failed)
        late = left - watch.done - watch.failures
        if late:
            options.say(f"Time is up: {late} cells are left. The same command goes on with them.")
        if watch.failures:
            raise TrainingError(
                f"{watch.failures} of {left} cells failed, see above. All others are kept; run it again to try these."
            )

    def progress(self, experiment: Experiment, store: Store, backbone: str) -> tuple[int, int]:
        return done_and_wanted(experiment, store, backbone)

    def tables(self, experiment: Experiment, store: Store, backbone: str, part: str | None = None) -> list[Section]:
        return sections(Results(experiment, store, backbone), part)

    def csv(self, experiment: Experiment, store: Store, backbone: str) -> str:
        return as_csv(Results(experiment, store, backbone))


def _with_data(rows: list[list[Cell]], options: Options) -> list[list[Cell]]:
    """Without the cells whose texts are not to be had here; a line says so once for each data set."""
    counts = Counter(cell.data for row in rows for cell in row)
    absent = {name: why for name in counts if (why := why_absent(name, options.data_dir)) is not None}
    if absent and len(absent) == len(counts):
        raise DataError("\n".join(absent.values()))
    for name, why in absent.items():
        options.say(f"Left out: {counts[name]} cells on {name}. {why}")
    return [row for row in rows if row[0].data not in absent]


def why_absent(name: str, data_dir: str | None) -> str | None:
    """Why a data set cannot be read; None where it can."""
    from jointmatch.data.datasets import data_folder, part_file, read_benchmark

    if name == "demo" or part_file(data_folder(data_dir), name, "pool") is not None:
        return None
    try:
        read_benchmark(name, data_dir)  # the hub may have it
    except InputError as error:
        return str(error)
    return None


class _Watch:
    """Tells of each cell as it ends."""

    def __init__(self, total: int, say: Callable[[str], None]) -> None:
        self.total, self.say, self.done, self.failures = total, say, 0, 0

    def finished(self, cell: Cell, record: Record) -> None:
        self.done += 1
        scores = record["baselines"]["logistic_regression"] if cell.reference else record["scores"]
        shown = "  ".join(f"{part} {100 * s['accuracy']:.2f}" for part, s in scores.items())
        seconds = sum(record["seconds"].values())
        self.say(f"{self._where(cell)}  {shown}  {seconds:.0f} s  ({self.done + self.failures} of {self.total})")

    def failed(self, unit: Unit, error: BaseException) -> None:
        self.failures += len(unit.cells)
        for cell in unit.cells:
            self.say(f"{self._where(cell)}  failed: {type(error).__name__}: {error}")

    def _where(self, cell: Cell) -> str:
        return f"{cell.data} {cell.labels}  {cell.name} ({cell.key[:6]})  seed {cell.seed}"


SUITES: dict[str, Suite] = {"grid": Grid()}


def suite_of(experiment: Experiment) -> Suite:
    """Who runs it."""
    from jointmatch.benchmark import data_suite  # noqa: F401 - registers itself

    if experiment.suite not in SUITES:
        raise InputError(f"{experiment.name} names the suite {experiment.suite!r}. Known: {', '.join(SUITES)}.")
    return SUITES[experiment.suite]
