"""What the files that hold documents to what was measured have in common."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

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
