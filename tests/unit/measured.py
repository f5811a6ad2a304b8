"""What the files that hold documents to what was measured have in common."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from jointmatch.benchmark import Results, Store, load
from jointmatch.benchmark.results import Entry
from jointmatch.benchmark.statistics import Difference, paired

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
KEPT = Store(ROOT / "benchmarks" / "results")


def page(*path: str) -> str:
    """A document under ``docs``."""
    return ROOT.joinpath("docs", *path).read_text(encoding="utf-8")


def result(name: str) -> dict:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


@cache
def results(name: str) -> Results:
    return Results(load(ROOT / "benchmarks" / f"{name}.toml"), KEPT)


def entry(name: str, variant: str, data: str = "ag_news", labels: int = 10) -> Entry:
    return results(name).entries[variant, data, labels]


@cache
def table(name: str) -> Results:
    """One of the paper's tables."""
    return Results(load(name), KEPT)


def on_test(name: str, row: str, data: str = "ag_news", labels: int = 10) -> dict[int, float]:
    """A row's accuracy in one of the paper's tables, in points, by seed."""
    return {seed: 100 * value for seed, value in table(name).entries[row, data, labels].values().items()}


def lead(name: str, one: str, other: str, data: str = "ag_news", labels: int = 10) -> Difference:
    """The first row's lead over the second, in points."""
    difference = paired(on_test(name, one, data, labels), on_test(name, other, data, labels))
    assert difference is not None
    return difference


def race(*ways: str) -> dict[str, list[dict[str, Any]]]:
    """The records of the race's five seeds."""
    return {way: [KEPT.read(f"race/nvidia-h200/{way}/seed-{seed}.json") or {} for seed in range(5)] for way in ways}


def words(name: str) -> str:
    return " ".join(page("results", f"{name}.md").split())


def said(difference: Difference) -> str:
    return f"{difference.mean:.2f} [{difference.low:.2f}, {difference.high:.2f}]"


def on_dev(name: str, row: str, at: Callable[[list[float]], float], data: str = "ag_news") -> dict[int, float]:
    """A row's accuracy on dev, in points, at some evaluation of each run."""
    runs = table(name).entries[row, data, 10].records
    return {run["seed"]: 100 * at(run["history"]["dev_accuracy"]) for run in runs}


def start(course: list[float]) -> float:
    return course[0]


def ahead(name: str, one: str, other: str, at: Callable[[list[float]], float], data: str = "ag_news") -> Difference:
    difference = paired(on_dev(name, one, at, data), on_dev(name, other, at, data))
    assert difference is not None
    return difference


def training_adds(name: str, one: str, other: str, data: str = "ag_news") -> Difference:
    """To the first row's lead on dev, from the start to the chosen step."""
    ours, theirs = (
        {seed: end - on_dev(name, row, start, data)[seed] for seed, end in on_dev(name, row, max, data).items()}
        for row in (one, other)
    )
    difference = paired(ours, theirs)
    assert difference is not None
    return difference


def average(name: str, row: str, labels: int = 10) -> float:
    return float(np.mean([*on_test(name, row, labels=labels).values()]))


def spread(name: str, row: str) -> float:
    return float(np.std([*on_test(name, row).values()]))


def many() -> list[str]:
    return list(table("classes").experiment.data)
