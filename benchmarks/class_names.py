"""What a class's name is worth as one more labelled text, in mode lite.

    python -m benchmarks.class_names --data-dir FOLDER

The labelled texts are those of the benchmarks, 10 a class, and beside them nothing; each class's name; its name in a
phrase (written down before it was tried, but IMDB's, which had been on dev); or, to compare, an eleventh text of each
class. JointMatch under recipe best, the checkpoint chosen on dev as in all benchmarks, five seeds. Every call writes
the whole result file.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jointmatch.benchmark import load
from jointmatch.benchmark.cell import Cell, cells_of
from jointmatch.benchmark.machines import machine
from jointmatch.benchmark.work import splits_of
from jointmatch.config import merge
from jointmatch.data import Splits
from jointmatch.files import write_json
from jointmatch.networks import find_device
from jointmatch.run import run_seeds

RESULT = Path(__file__).parent / "results" / "class_names.json"
LABELS = 10
PHRASES = {
    "ag_news": "news about {}",
    "imdb": "a {} movie review",
    "hurricane": "a tweet after a hurricane: {}",
    "goemotions": "a comment that shows {}",
    "empatheticdialogues": "I feel {}",
}


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Run all of it and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--backbone", default="auto")
    parser.add_argument("--data", nargs="+", default=list(PHRASES), choices=list(PHRASES))
    parser.add_argument("--result", type=Path, default=RESULT)
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {
        "machine": machine(find_device("auto")),
        "labels": LABELS,
        "phrases": PHRASES,
        "accuracy": {},
    }
    for data in options.data:
        found["accuracy"][data] = _rows(data, options.backbone, options.data_dir)
        write_json(options.result, found)
    return found


def named(splits: Splits, phrase: str) -> Splits:
    """With one more labelled text of each class, its name in a phrase."""
    texts = [phrase.format(str(name).replace("_", " ")) for name in splits.classes]
    labeled = splits.labeled
    more = replace(labeled, texts=[*labeled.texts, *texts], labels=[*labeled.labels, *range(len(texts))])
    return replace(splits, labeled=more)


def _rows(data: str, backbone: str, data_dir: str) -> dict[str, dict[str, list[float]]]:
    """What is beside the labelled texts -> part -> accuracy of each seed."""
    experiment = next(e for e in map(load, ("main_lite", "classes_lite")) if data in e.data)
    cells = cells_of(experiment, "jointmatch", data, LABELS, backbone)
    plain = [splits_of(cell, data_dir) for cell in cells]
    rows = {
        "nothing": plain,
        "name": [named(splits, "{}") for splits in plain],
        "phrase": [named(splits, PHRASES[data]) for splits in plain],
        "text": [splits_of(replace(cell, labels=LABELS + 1), data_dir) for cell in cells],
    }
    return {name: _scores(splits, cells) for name, splits in rows.items()}


def _scores(splits: list[Splits], cells: list[Cell]) -> dict[str, list[float]]:
    settings = merge(cells[0].asked, {"output": {"baselines": False}})
    outcomes = run_seeds(splits, settings, [cell.seed for cell in cells])
    results = [outcome.result for outcome in outcomes]
    return {part: [round(r["scores"][part]["accuracy"], 5) for r in results] for part in ("dev", "test")}


if __name__ == "__main__":
    main()
