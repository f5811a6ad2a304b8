"""Tables of data statistics, counted from the data at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.formats import Section
from jointmatch.benchmark.store import Record, Store
from jointmatch.benchmark.suite import Options, Suite, asked_compiling, refuse, set_faults, why_absent
from jointmatch.benchmark.table import NAMES, NOT_RUN
from jointmatch.errors import did_you_mean

PARTS = ("pool", "dev", "test")


class DataStatistics(Suite):
    """Count classes and texts; ``options`` has the paper's tables: title -> data set -> reported numbers."""

    def faults(self, options: Mapping[str, Any], variants: Sequence[str]) -> list[str]:
        faults = [] if options else ["there are no options, wanted [options.NAME] for each table"]
        for name, table in options.items():
            known = {"title": str, "note": str, "columns": list, "data": dict}
            found = table if isinstance(table, Mapping) else {}
            lacking = [key for key, kind in known.items() if not isinstance(found.get(key), kind)]
            faults += [f"options.{name} has no {key!r}, wanted title, note, columns and data" for key in lacking]
            stated_by_data = found["data"] if "data" not in lacking else {}
            faults += set_faults(f"options.{name}.data", stated_by_data)
            for data, stated in stated_by_data.items():
                faults += [f"options.{name}.data.{data} {fault}" for fault in _stated_faults(stated)]
        return faults

    def run(self, experiment: Experiment, options: Options) -> None:
        asked = {
            "--seeds": bool(experiment.seeds),
            "--only": bool(options.only),
            "--jobs": options.jobs > 1,
            "--together": options.together is not None,
            "--seconds": options.seconds < float("inf"),
            **asked_compiling(options),
        }
        refuse(asked, f"{experiment.name} counts texts, all of them each time")
        store = Store(options.results)
        store.check_writable()
        for name in self._names(experiment):
            kept = store.read(_path(name))
            why = why_absent(name, options.data_dir)
            if why is not None:
                if kept is None:
                    options.say(f"Left out: {name}. {why}")
                continue
            record = count(name, options.data_dir)  # count again: the name may stand for other texts now
            if kept is not None and record.items() <= kept.items():
                continue
            store.write(_path(name), record)
            options.say(f"{name}: {record['classes']} classes, " + ", ".join(f"{p} {record[p]:,}" for p in PARTS))

    def progress(self, experiment: Experiment, store: Store, backbone: str) -> tuple[int, int]:
        names = self._names(experiment)
        return sum(store.read(_path(name)) is not None for name in names), len(names)

    def tables(self, experiment: Experiment, store: Store, backbone: str, part: str | None = None) -> list[Section]:
        found = []
        for name, table in experiment.options.items():
            if part in (None, name):
                rows = [[NAMES.get(d, d), *_row(store.read(_path(d)), paper)] for d, paper in table["data"].items()]
                columns = ["data set", "labels", "classes", *table["columns"], "set aside"]
                found.append(Section(table["title"], columns, rows, [table["note"]]))
        return found

    def _names(self, experiment: Experiment) -> list[str]:
        return [name for table in experiment.options.values() for name in table["data"]]


def count(name: str, data_dir: str | None) -> Record:
    """Count classes and texts of a data set, and texts set aside: repeated ones and those also in dev or test."""
    from jointmatch.data.datasets import read_benchmark
    from jointmatch.data.draw import drawable

    pool, dev, test = read_benchmark(name, data_dir)
    parts = {"pool": pool, "dev": dev, "test": test}
    sizes = {part: Counter(map(str, rows.labels)) for part, rows in parts.items() if rows is not None}
    return {
        "data": name,
        "classes": len(sizes["pool"]),
        **{part: len(rows) if rows is not None else 0 for part, rows in parts.items()},
        "per_class": {part: [min(c.values()), max(c.values())] for part, c in sizes.items()},
        "set_aside": len(pool) - len(drawable(pool, dev, test)),
        "words_per_text": round(sum(len(t.split()) for t in pool.texts) / len(pool), 1),
    }


def _stated_faults(stated: Any) -> list[str]:
    """Faults in what the paper states of a data set."""
    if not isinstance(stated, Mapping):
        return [f"is {stated!r}, wanted a table"]
    known = ("labels", "classes", *PARTS, "by_class")
    faults = [f"has {key!r}.{did_you_mean(key, known)} Known: {', '.join(known)}" for key in stated if key not in known]
    if not isinstance(stated.get("labels"), str):
        faults.append(f"has labels {stated.get('labels')!r}, wanted in words what they are")
    numbers = [key for key in ("classes", *PARTS) if type(stated.get(key)) is not int]
    return faults + [f"has {key} {stated.get(key)!r}, wanted a whole number" for key in numbers]


def _path(name: str) -> str:
    return f"data/{name}.json"


def _row(record: Record | None, paper: dict[str, Any]) -> list[str]:
    """Our numbers and the paper's, per class where the paper counts by class."""
    cells = [str(paper["labels"]), _beside(f"{record['classes']}" if record else None, paper["classes"])]
    for part in PARTS:
        shown = None
        if record is not None:
            low, high = record["per_class"][part]
            by_class = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            shown = by_class if paper.get("by_class") else f"{record[part]:,}"
        cells.append(_beside(shown, paper[part]))
    return [*cells, f"{record['set_aside']:,}" if record is not None else NOT_RUN]


def _beside(ours: str | None, paper: int) -> str:
    return f"{ours or NOT_RUN} (paper {paper:,})"
