"""Experiments from a few lines, and records without a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jointmatch.benchmark import Experiment, Store, load
from jointmatch.benchmark.cell import Cell, cells_of

Write = Callable[..., Experiment]


@pytest.fixture
def written(tmp_path) -> Write:
    """``written("...", name="mine")`` -> the experiment that this text is."""

    def write(text: str, name: str = "mine", read: bool = True) -> Experiment:
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
        return load(tmp_path / f"{name}.toml") if read else None  # type: ignore[return-value]

    return write


def record_of(cell: Cell, accuracy: float, **more: object) -> dict:
    """What a run would have left: the same numbers on dev and test."""
    scores = {"accuracy": accuracy, "macro_f1": accuracy - 0.01}
    parts = {"dev": scores, "test": scores} if cell.test else {"dev": scores}
    baselines = dict.fromkeys(("supervised", "logistic_regression", "label_spreading"), parts)
    return {
        "key": cell.key,
        "seed": cell.seed,
        "settings": cell.settings,
        "backbone": {"name": "minilm", "fingerprint": cell.backbone},
        "scores": parts,
        "scores_of_last_step": parts,
        "hardware": {"device": "cpu"},
        "classes": ["a", "b"],
        **({"baselines": baselines} if cell.reference else {}),
        **more,
    }


def keep(
    store: Store,
    experiment: Experiment,
    row: str,
    values: list[float],
    data: str = "ag_news",
    labels: int = 10,
    **more: object,
):
    """Put one value for each seed into the store."""
    for cell, value in zip(cells_of(experiment, row, data, labels), values, strict=False):
        store.write(cell.path, record_of(cell, value, **more))


ROOT = Path(__file__).parents[3]
