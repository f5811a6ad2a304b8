"""Sets an experiment's finished cells aside, in one file for each data set under ``earlier``: found by name ever after.

    python -m benchmarks.set_aside benchmarks/search/full_imdb.toml --from FOLDER
    python -m benchmarks.set_aside main_lite --dataset imdb --as main_lite_before --remove

For searches, which no table shows, and for rows that are run again in another way and compared with how they were.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jointmatch.benchmark import Store, load
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.results import asked_of
from jointmatch.benchmark.store import FORMAT, Record, dumps
from jointmatch.errors import JointMatchError
from jointmatch.files import write_text

KEPT = (
    "settings",
    "scores",
    "scores_of_networks",
    "scores_of_last_step",
    "steps",
    "kept_step",
    "termination",
    "seconds",
    "pseudo_labels",
    "history",
    "backbone",
)


def main(arguments: Sequence[str] | None = None) -> list[Path]:
    """Write the files; their paths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", help="of the package, or a .toml file")
    parser.add_argument("--from", dest="source", default="benchmarks/results", help="folder of results with the cells")
    parser.add_argument("--to", default="benchmarks/results", help="folder of results to keep them in")
    parser.add_argument("--as", dest="name", help="what the experiment is called there; else its own name")
    parser.add_argument("--dataset", action="append", help="of the experiment; repeat it; else all")
    parser.add_argument("--only", action="append", help="rows, by name or pattern; repeat it; else all, and references")
    parser.add_argument("--remove", action="store_true", help="the cells, once they are kept")
    args = parser.parse_args(arguments)
    try:
        experiment = load(args.experiment).on_sets(args.dataset or [])
        rows = experiment.named(args.only or ["*"])
    except JointMatchError as error:
        sys.exit(str(error))
    store, written = Store(args.source), []
    name = args.name or Path(experiment.name).stem
    for data in experiment.data:
        found = dict(runs(experiment, store, data, name, rows))
        if not found:
            continue
        target = Path(args.to) / "earlier" / f"{name}-{data}.json"
        if target.exists():
            sys.exit(f"{target} is there already.")
        write_text(target, dumps({"format": FORMAT, **_packed(list(found.values()))}))
        written.append(target)
        print(f"{target}: {len(found)} runs")
        if args.remove:
            for path in found:
                (Path(args.source) / "cells" / path).unlink()
    return written


def runs(experiment: Any, store: Store, data: str, name: str, rows: Sequence[str]) -> list[tuple[str, Record]]:
    """Each finished cell's place, and what is kept of it."""
    found = []
    variants = [row for row in rows if row in experiment.variants]
    references = ["references"] if len(variants) < len(rows) else []  # they share one cell
    for row in [*variants, *references]:
        asked = asked_of(experiment, row, data) if row in experiment.variants else {}
        for labels in experiment.data[data]:
            for cell in cells_of(experiment, experiment.references[0] if row == "references" else row, data, labels):
                record = store.find(cell)
                if record is not None:
                    facts = {"experiment": name, "variant": row, "data": data, "labels": labels}
                    facts |= {"imbalance": cell.imbalance, "seed": cell.seed, "asked": asked}
                    facts["machine"] = {**record["hardware"], **record.get("versions", {})}
                    own = {key: record[key] for key in (*KEPT, "baselines") if key in record}
                    found.append((cell.path, facts | own))
    return found


def _packed(found: Sequence[Record]) -> Record:
    """The runs, with the machine that most of them were made on named once."""
    usual = max((run["machine"] for run in found), key=lambda machine: sum(run["machine"] == machine for run in found))
    short = [{k: v for k, v in run.items() if k != "machine" or v != usual} for run in found]
    return {"machine": usual, "runs": short}


if __name__ == "__main__":
    main()
