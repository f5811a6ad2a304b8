"""The usual suite: every variant on every data set with every seed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from jointmatch.benchmark.cell import Cell, all_cells
from jointmatch.benchmark.courses import curves, draw_classes, draw_course, draw_pseudo_labels
from jointmatch.benchmark.drawing import Picture, Shown
from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.formats import Section, as_csv
from jointmatch.benchmark.outcome import start_kept
from jointmatch.benchmark.results import Results, done_and_wanted
from jointmatch.benchmark.schedule import work_off
from jointmatch.benchmark.spells import keep_spell
from jointmatch.benchmark.store import Record, Store
from jointmatch.benchmark.suite import Options, Suite, why_absent
from jointmatch.benchmark.table import sections
from jointmatch.benchmark.work import ROWS, Unit, splits_of, units_of
from jointmatch.config import Settings, merge
from jointmatch.data.datasets import benchmark_digest, read_benchmark
from jointmatch.data.draw import drawable
from jointmatch.errors import DataError, InputError, TrainingError
from jointmatch.networks import check_backbone, find_device, why_not_compiled


class Grid(Suite):
    """Every variant on every data set with every seed."""

    pictures = MappingProxyType(
        {
            "classes": Picture("Pseudo-labels of each class over training", draw_classes),
            "course": Picture("Accuracy on dev over training", draw_course),
            "pseudo_labels": Picture("Quantity and quality of pseudo-labels over training", draw_pseudo_labels),
        }
    )

    def run(self, experiment: Experiment, options: Options) -> None:
        store, start, device = Store(options.results), time.time(), find_device("auto")
        if options.compiled and (why := why_not_compiled(device)):
            raise InputError(f"Layers cannot be compiled: {why}. Leave --compiled out.")
        if options.together is None:
            options = replace(options, together=len(experiment.seeds) if device.type == "cuda" else 1)
        rows = _as_told(all_cells(experiment, options.backbone, options.only or None), options.compiled)
        rows = _with_data(rows, options)
        found = {cell.path: store.find(cell) for row in rows for cell in row}
        check_texts([record for record in found.values() if record is not None], options)
        todo = [[cell for cell in row if found[cell.path] is None] for row in rows]
        todo, free = _without_those_that_come_along(_with_enough_texts(todo, options))
        wanted, left = sum(map(len, rows)), sum(map(len, todo))
        for name in {cell.asked.get("network", {}).get("backbone", "auto") for row in todo for cell in row}:
            check_backbone(name)
        if left:
            store.check_writable()
        more = f", which yield {free} more: the networks of runs with a word reader" if free else ""
        kept = sum(record is not None for record in found.values())
        new = {cell.data for row in todo for cell in row} - {record["data"] for record in found.values() if record}
        first = (
            f" The first on {', '.join(sorted(new))} takes longest: it computes features, which are kept."
            if new
            else ""
        )
        options.say(f"{experiment.title}: {kept} of {wanted} cells are finished and kept, {left} to run{more}.{first}")
        groups = list(units_of(todo, options.together or 1))
        if groups and options.seconds < float("inf"):
            options.say(_told_limit(groups, options))
        place = (options.results, options.data_dir, start + options.seconds, len(groups) >= ROWS * options.jobs)
        units = [Unit(cells, *place) for cells in groups]
        watch = _Watch(left, options.say)
        work_off(units, options.jobs, watch.finished, watch.failed)
        if watch.done:
            keep_spell(store, experiment.name, watch.by_data, time.time() - start, options)
        rest = [store.find(cell) for row in todo for cell in row if cell.path not in watch.ended]
        for line in _told_rest(rest, late=time.time() > start + options.seconds):
            options.say(line)
        if watch.failures:
            raise TrainingError(
                f"{watch.failures} of {left} cells failed, see above. All others are kept; run it again to try these."
            )

    def progress(self, experiment: Experiment, store: Store, backbone: str) -> tuple[int, int]:
        return done_and_wanted(experiment, store, backbone)

    def tables(self, experiment: Experiment, store: Store, backbone: str, part: str | None = None) -> list[Section]:
        return sections(Results(experiment, store, backbone), part)

    def shown(self, experiment: Experiment, store: Store, backbone: str, kind: str) -> Shown:
        return curves(Results(experiment, store, backbone), kind)

    def csv(self, experiment: Experiment, store: Store, backbone: str) -> str:
        return as_csv(Results(experiment, store, backbone))


def _as_told(rows: Iterable[list[Cell]], compiled: bool | None) -> list[list[Cell]]:
    """Cells whose layers are compiled, or not, as the command line says, whatever their experiment does."""
    told: Settings = {} if compiled is None else {"network": {"compiled": "on" if compiled else "off"}}
    return [[replace(cell, asked=merge(cell.asked, told)) for cell in row] for row in rows]


def _told_limit(groups: Sequence[Sequence[Cell]], options: Options) -> str:
    """What a time limit means, told before it comes: a caller may have one of its own, and lose what is under way."""
    most = sum(sorted(map(len, groups))[-options.jobs :])
    return f"No cell is begun after {options.seconds:g} s; those under way then, {most} at most, are finished first."


def _told_rest(rest: Sequence[Record | None], late: bool) -> Iterator[str]:
    """What is said of cells that were not run here, given their records, if there are any by now."""
    left = rest.count(None)
    if len(rest) > left:
        yield f"Finished meanwhile, by another process or before a failure: {len(rest) - left} of these cells."
    if left:
        by_time = f"Time is up: {left} cells are left. The same command goes on with them."
        yield by_time if late else f"{left} cells are left to another process, which is running them."


def _with_data(rows: list[list[Cell]], options: Options) -> list[list[Cell]]:
    """Leave out rows whose texts are not available here, and say so once per data set."""
    counts = Counter(cell.data for row in rows for cell in row)
    scored = ("test",) if any(cell.test for row in rows for cell in row) else ()
    parts = ("pool", "dev", *scored)  # the checkpoint is chosen on dev
    absent = {name: why for name in counts if (why := why_absent(name, options.data_dir, parts)) is not None}
    if absent and len(absent) == len(counts):
        raise DataError("\n".join(dict.fromkeys(absent.values())))  # what is wrong with the folder is so for all
    for name, why in absent.items():
        options.say(f"Left out: {counts[name]} cells on {name}. {why}")
    return [row for row in rows if row[0].data not in absent]


def _with_enough_texts(todo: list[list[Cell]], options: Options) -> list[list[Cell]]:
    """Leave out cells for which a class has too few texts to draw labels from, and say so before anything is run."""
    counts = Counter((cell.data, cell.labels) for row in todo for cell in row)
    firsts = {(row[0].data, row[0].labels): row[0] for row in todo if row}
    lacking = {place: why for place, cell in firsts.items() if (why := _why_not_drawn(cell, options)) is not None}
    told = {place: f"{place[0]} with {place[1]} labels per class. {why}" for place, why in lacking.items()}
    if lacking and len(lacking) == len(firsts):
        raise DataError("\n".join(f"Nothing can be run on {text}" for text in told.values()))
    for place, text in told.items():
        options.say(f"Left out: {counts[place]} cells on {text}")
    return [row if row and (row[0].data, row[0].labels) not in lacking else [] for row in todo]


def _why_not_drawn(cell: Cell, options: Options) -> str | None:
    try:
        splits_of(cell, options.data_dir)
    except DataError as error:
        return str(error)
    return None


def _without_those_that_come_along(todo: list[list[Cell]]) -> tuple[list[list[Cell]], int]:
    """Leave out cells that the run of another one yields (``Cell.without_words``); also, how many these are."""
    along = {networks.path for row in todo for cell in row if (networks := cell.without_words()) is not None}
    left = [[cell for cell in row if cell.path not in along] for row in todo]
    return left, sum(map(len, todo)) - sum(map(len, left))


def check_texts(records: Sequence[Record], options: Options) -> None:
    """Raise if kept cells were made from texts other than those now available under the same name."""
    for name in sorted({record["data"] for record in records} - {"demo"}):
        own = [record for record in records if record["data"] == name]
        digests = {digest for record in own if (digest := record.get("texts", {}).get("digest"))}
        others = digests and digests != {benchmark_digest(name, options.data_dir)}
        if others or _counts_differ(name, own, options.data_dir):
            raise DataError(
                f"{options.results} has cells of other texts than those of {name} here, and numbers of both could not "
                "be compared in one table: choose another --results, or the --data-dir of then."
            )


def _counts_differ(name: str, records: Sequence[Record], data_dir: str | None) -> bool:
    """For records without a digest: whether their classes, or the number of drawable texts, differ."""
    counted = [record for record in records if "texts" in record and not record.get("imbalance")]
    old = [record for record in counted if "digest" not in record["texts"]]
    if not old:
        return False
    pool, dev, test = read_benchmark(name, data_dir)
    size, classes = len(drawable(pool, dev, test)), {str(label) for label in pool.labels}
    return any(r["texts"]["labeled"] + r["texts"]["pool"] != size or set(r["classes"]) != classes for r in old)


class _Watch:
    """Report each cell as it ends."""

    def __init__(self, total: int, say: Callable[[str], None]) -> None:
        self.total, self.say, self.failures = total, say, 0
        self.by_data: Counter[str] = Counter()
        self.ended: set[str] = set()  # the paths of cells that were run here

    @property
    def done(self) -> int:
        """Number of finished cells."""
        return self.by_data.total()

    def finished(self, cell: Cell, record: Record) -> None:
        self.by_data[cell.data] += 1
        self.ended.add(cell.path)
        scores = record["baselines"][cell.row] if cell.reference else record["scores"]
        shown = "  ".join(f"{part} {100 * s['accuracy']:.2f}" for part, s in scores.items())
        start = "  (the start is kept)" if start_kept(record) else ""
        seconds = sum(record["seconds"].values())
        of_all = f"({self.done + self.failures} of {self.total})"
        self.say(f"{self._where(cell)}  {shown}{start}  {seconds:.0f} s  {of_all}")

    def failed(self, unit: Unit, error: BaseException) -> None:
        self.failures += len(unit.cells)
        for cell in unit.cells:
            self.ended.add(cell.path)
            self.say(f"{self._where(cell)}  failed: {type(error).__name__}: {error}")

    def _where(self, cell: Cell) -> str:
        """The row first, since the key, by which its file is found, tells a reader nothing."""
        return f"{cell.row}  {cell.data} {cell.labels} ({cell.key[:6]})  seed {cell.seed}"
