"""What the files that hold documents to what was measured have in common."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jointmatch.benchmark import Results, Store, load
from jointmatch.benchmark.results import Entry

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


def race(*ways: str) -> dict[str, list[dict[str, Any]]]:
    """The records of the race's five seeds."""
    return {way: [KEPT.read(f"race/nvidia-h200/{way}/seed-{seed}.json") or {} for seed in range(5)] for way in ways}
