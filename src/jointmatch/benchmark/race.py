"""Time to accuracy: the same task trained by several engines, each run to its end and timed.

Every variant is a way to train. Its seeds run one after another; in one stack if ``options.together`` names the
variant; each in a process of its own, all at once, if ``options.processes`` names it. The clock starts once the texts
have been read and covers everything after that. Times are shown per seed: the mean for seeds that take turns, the total
time over their number for seeds that run at once. A run still under way when the overall time limit is reached ends
there; its partial result is kept until the variant is run again.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from jointmatch.benchmark.cell import Cell, cells_of
from jointmatch.benchmark.drawing import COLOURS, STYLES, Picture, Shown, legend_below
from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.formats import Section
from jointmatch.benchmark.machines import current_machine, machines, slug
from jointmatch.benchmark.outcome import backbone_name
from jointmatch.benchmark.results import spread
from jointmatch.benchmark.schedule import shared_cores
from jointmatch.benchmark.store import Record, Store
from jointmatch.benchmark.suite import Options, Suite, asked_compiling, is_number, key_faults, refuse, why_absent
from jointmatch.benchmark.table import NAMES, NOT_RUN
from jointmatch.errors import DataError, did_you_mean
from jointmatch.listener import Listener
from jointmatch.processes import follow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIME_UP = "time is up"

Rows = dict[str, list[Cell]]  # variant -> one cell per seed
Found = dict[str, list[Record]]  # variant -> measurements


def draw_race(figure: Figure, shown: Shown) -> None:
    """Mean accuracy on dev over minutes a seed: ``title``, ``seeds`` and ``points`` of (minutes, accuracy)."""
    from matplotlib.ticker import LogLocator, NullLocator

    figure.set_size_inches(6.6, 4.2)
    axes = figure.subplots()
    for number, line in enumerate(shown):
        minutes, accuracy = zip(*line["points"], strict=True)
        label = f"{line['title']}, {line['seeds']} seed{'s' * (line['seeds'] > 1)}"
        percent = [100 * a for a in accuracy]
        axes.plot(minutes, percent, label=label, linewidth=1.8, color=COLOURS[number], linestyle=STYLES[number])
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))  # more would overlap
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="minutes a seed, logarithmic", ylabel="accuracy on dev, %", title=shown[0]["device"])
    legend_below(figure, longest=80)


class Race(Suite):
    """``options``: ``together`` and ``processes``, the variants whose seeds run at once; ``levels`` of accuracy."""

    pictures = MappingProxyType({"race": Picture("Accuracy on dev over minutes", draw_race)})

    def faults(self, options: Mapping[str, Any], variants: Sequence[str]) -> list[str]:
        faults = key_faults("race", options, ("together", "levels"), ("processes",))
        for key in ("together", "processes"):
            names = options.get(key, [])
            if not isinstance(names, list):
                faults.append(f"options.{key} is {names!r}, wanted a list of variants, such as {list(variants[:1])!r}")
                continue
            faults += [
                f"options.{key} has {name!r}, which is no variant.{did_you_mean(str(name), variants)}"
                for name in names
                if name not in variants
            ]
        levels = options.get("levels", [])
        if not isinstance(levels, list) or not all(is_number(level) for level in levels):
            faults.append(f"options.levels is {levels!r}, wanted a list of accuracies, such as [0.8, 0.84]")
        return faults

    def run(self, experiment: Experiment, options: Options) -> None:
        rows = self._rows(experiment, options.backbone, options.only)  # first, in case a name is wrong
        asked = {"--jobs": options.jobs > 1, "--together": options.together is not None} | asked_compiling(options)
        refuse(asked, f"{experiment.name} is timed, so its file says which seeds run at once, and how")
        data, _ = _task(experiment)
        if why := why_absent(data, options.data_dir):
            raise DataError(why)
        if data == "demo":
            raise DataError("A race is timed by its accuracy on dev, which the demo corpus has none of.")
        store, machine, start = Store(options.results), current_machine(), time.monotonic()
        store.check_writable()
        _check_kept(store, slug(machine), rows)
        processes = experiment.options.get("processes", [])
        for variant, row in rows.items():
            todo = [cell for cell in row if not _is_over(store.read(_path(slug(machine), variant, cell.seed)))]
            at_once = variant in (*experiment.options["together"], *processes)
            if at_once and len(todo) < len(row):
                todo = row if todo else []  # they share one time, so missing seeds are measured with all
            for unit in [todo] if at_once and todo else [[cell] for cell in todo]:
                left = start + options.seconds - time.monotonic()
                if left < 0:
                    options.say(f"Time is up: {variant} is left. The same command goes on with it.")
                    break
                run = _in_processes if variant in processes else _timed
                for record in run(unit, options.data_dir, left):
                    record |= {"variant": variant, "device": machine}
                    store.write(_path(slug(machine), variant, record["seed"]), record)
                    options.say(f"{variant}, seed {record['seed']}: {_told(record)}")

    def progress(self, experiment: Experiment, store: Store, backbone: str) -> tuple[int, int]:
        found = self._fullest(experiment, store, backbone)
        return sum(map(_over, found.values())), len(experiment.variants) * len(experiment.seeds)

    def tables(self, experiment: Experiment, store: Store, backbone: str, part: str | None = None) -> list[Section]:
        data, labels = _task(experiment)
        if part not in (None, data):
            return []
        found, levels = self._fullest(experiment, store, backbone), experiment.options["levels"]
        rows = [
            [variant.title, *_shown_times(found[name], levels), f"{_over(found[name])} of {len(experiment.seeds)}"]
            for name, variant in experiment.variants.items()
        ]
        to_levels = [f"minutes a seed to {level:.0%} on dev" for level in levels]
        columns = ["", "accuracy on test", *to_levels, "to the end", "minutes of all", "steps", "seeds"]
        devices = {record["device"] for records in found.values() for record in records}
        title = ", ".join([NAMES.get(data, data), f"{labels} labels per class", *devices])
        return [Section(title, columns, rows)]

    def shown(self, experiment: Experiment, store: Store, backbone: str, kind: str) -> Shown:
        found = {name: records for name, records in self._fullest(experiment, store, backbone).items() if records}
        return [
            {
                "title": experiment.variants[name].title,
                "device": records[0]["device"],
                "seeds": len(records),
                "points": mean_course(records),
            }
            for name, records in found.items()
        ]

    def _rows(self, experiment: Experiment, backbone: str, only: Sequence[str]) -> Rows:
        names = experiment.named(only) if only else list(experiment.variants)
        return {name: cells_of(experiment, name, *_task(experiment), backbone) for name in names}

    def _fullest(self, experiment: Experiment, store: Store, backbone: str) -> Found:
        """Records from the machine that has the most."""
        best: Found = {name: [] for name in experiment.variants}
        rows = self._rows(experiment, backbone, [])
        for machine in machines(store, "race"):
            read = {name: [(c, store.read(_path(machine, name, c.seed))) for c in row] for name, row in rows.items()}
            found = {name: [r for c, r in row if r is not None and _is_of(r, c)] for name, row in read.items()}
            best = max(best, found, key=lambda each: sum(map(len, each.values())))
        return best


def _task(experiment: Experiment) -> tuple[str, int]:
    """The first data set and its number of labels: a race has one."""
    data, counts = next(iter(experiment.data.items()))
    return data, counts[0]


class _TimeUp(Exception):
    """The time limit was reached during a run."""


class _Clock(Listener):
    """Record when each evaluation arrived, and end the runs at the first one after ``deadline``."""

    def __init__(self, deadline: float) -> None:
        self.start, self.deadline = time.perf_counter(), deadline
        self.courses: dict[int, list[list[float]]] = {}

    def seconds(self) -> float:
        return round(time.perf_counter() - self.start, 2)

    def evaluation(self, record: dict[str, Any]) -> None:
        course = self.courses.setdefault(record["seed"], [])
        course.append([self.seconds(), record["step"], record["dev_accuracy"]])
        if time.monotonic() > self.deadline:
            raise _TimeUp


def _in_processes(cells: Sequence[Cell], data_dir: str | None, seconds: float) -> list[Record]:
    """Run every seed in a process of its own, all at once."""
    # Spawned, not forked: a forked process cannot use the GPU.
    context = multiprocessing.get_context("spawn")
    with shared_cores(len(cells)), ProcessPoolExecutor(len(cells), context, follow, (os.getpid(),)) as pool:
        alone = pool.map(_timed, [[cell] for cell in cells], repeat(data_dir), repeat(seconds))
        return [record | {"side_by_side": len(cells)} for records in alone for record in records]


def _timed(cells: Sequence[Cell], data_dir: str | None, seconds: float) -> list[Record]:
    """Run seeds, in one stack if there are several, and return a record of each with the time taken."""
    from jointmatch.benchmark.outcome import versions
    from jointmatch.benchmark.work import splits_of
    from jointmatch.run import run_seeds

    deadline = time.monotonic() + seconds
    seeds = [cell.seed for cell in cells]
    splits = [splits_of(cell, data_dir) for cell in cells]
    clock = _Clock(deadline)
    try:
        outcomes = run_seeds(splits, cells[0].asked, seeds, listener=clock)
        ends = {seed: _end(outcome.result) for seed, outcome in zip(seeds, outcomes, strict=True)}
    except _TimeUp:
        ends = {
            seed: {"steps": course[-1][1], "termination": TIME_UP, "scores": {}}
            for seed, course in clock.courses.items()
        }
    common = {
        "side_by_side": len(seeds),
        "seconds": clock.seconds(),
        "backbone": {"name": backbone_name(cells[0]), "fingerprint": cells[0].backbone},
        "settings": cells[0].settings,
        "data": cells[0].data,
        "labels": cells[0].labels,
        "stacked": cells[0].asked.get("network", {}).get("stacked", "auto"),
        "versions": versions(),
    }
    return [{"seed": seed, "course": clock.courses[seed], **common, **end} for seed, end in ends.items()]


def _end(result: dict[str, Any]) -> dict[str, Any]:
    """The final result of a run."""
    scores = {part: {"accuracy": own["accuracy"]} for part, own in result["scores"].items()}
    return {
        "steps": result["steps"],
        "termination": result["termination"],
        "stages": result["seconds"],
        "scores": scores,
    }


def _is_of(record: Record, cell: Cell) -> bool:
    """Whether a record has the cell's backbone, settings and task; the first records did not name their task."""
    task = record.get("data", cell.data), record.get("labels", cell.labels)
    same = record["backbone"]["fingerprint"] == cell.backbone and task == (cell.data, cell.labels)
    return same and cell.same(record["settings"])


def _check_kept(store: Store, machine: str, rows: Rows) -> None:
    """Raise if a kept record belongs to another race: it would be mistaken for this one's, or lost."""
    for variant, row in rows.items():
        for cell in row:
            record = store.read(_path(machine, variant, cell.seed))
            if record is not None and not _is_of(record, cell):
                name = record["backbone"]["name"]
                what = "of other settings or texts" if name == backbone_name(cell) else f"of the backbone {name}"
                raise DataError(f"{store.folder} holds a race {what}. Choose another --results for this.")


def _is_over(record: Record | None) -> bool:
    return record is not None and record["termination"] != TIME_UP


def _over(records: Sequence[Record]) -> int:
    return sum(map(_is_over, records))


def _told(record: Record) -> str:
    minutes = f"{record['seconds'] / 60:.1f} minutes"
    if not _is_over(record):
        return f"stopped after {record['steps']} steps and {minutes}"
    return f"test {100 * record['scores']['test']['accuracy']:.2f}, {minutes}"


def _shown_times(records: Sequence[Record], levels: Sequence[float]) -> list[str]:
    if not records:
        return [NOT_RUN, *[""] * (len(levels) + 3)]
    times = [reached(records, level) for level in levels]
    missed = "not reached" if all(map(_is_over, records)) else "not reached by then"
    shown = [missed if t is None else f"{t:.2f}" for t in times]
    steps, end = np.mean([r["steps"] for r in records]), to_the_end(records)
    if not all(map(_is_over, records)):
        return ["stopped", *shown, f"more than {end:.2f}", "", f"more than {steps:,.0f}"]
    accuracy = spread([r["scores"]["test"]["accuracy"] for r in records])
    return [accuracy, *shown, f"{end:.2f}", f"{len(records) * end:.1f}", f"{steps:,.0f}"]


def to_the_end(records: Sequence[Record]) -> float:
    """Minutes per seed until training ended."""
    return _per_seed(records, [r["seconds"] for r in records])


def reached(records: Sequence[Record], level: float) -> float | None:
    """Minutes per seed until every seed had reached ``level`` on dev; None if one never did."""
    first = [next((s for s, _, accuracy in r["course"] if accuracy >= level), None) for r in records]
    found = [seconds for seconds in first if seconds is not None]
    return _per_seed(records, found) if len(found) == len(records) else None


def _per_seed(records: Sequence[Record], seconds: Sequence[float]) -> float:
    """Minutes per seed: in turn, their mean; side by side, a share of the longest's, also where not all are shown."""
    pairs = list(zip(records, seconds, strict=True))
    longest = max((own for r, own in pairs if r["side_by_side"] > 1), default=0.0)
    own = [seconds if r["side_by_side"] == 1 else longest / r["side_by_side"] for r, seconds in pairs]
    return sum(own) / 60 / len(records)


def mean_course(records: Sequence[Record]) -> list[list[float]]:
    """(Minutes per seed, mean accuracy) at each evaluation that every seed reached."""
    length = min(len(r["course"]) for r in records)
    return [
        [
            round(_per_seed(records, [r["course"][i][0] for r in records]), 4),
            round(float(np.mean([r["course"][i][2] for r in records])), 4),
        ]
        for i in range(length)
    ]


def _path(machine: str, variant: str, seed: int) -> str:
    return f"race/{machine}/{slug(variant)}/seed-{seed}.json"
