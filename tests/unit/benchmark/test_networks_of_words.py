"""A run with a word reader is two cells: the networks by themselves are a row of their own."""

from __future__ import annotations

import pytest

from jointmatch.benchmark import Store
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.grid import Grid
from jointmatch.benchmark.suite import Options
from tests.unit.benchmark.conftest import record_of

BOTH = """
data = { demo = 5 }
seeds = 2
settings.training = { mode = "lite", steps = 4, evaluate_every = 2 }
variants.alone.network.word_reader = false
variants.words.network.word_reader = true
"""
TIMES = {"seconds", "finished"}


@pytest.fixture
def ran(written, tmp_path, tiny_backbone):
    """``ran(rows, folder)`` -> the store and what was said, after a run of the real thing."""

    def run(rows: list[str], folder: str = "results"):
        said: list[str] = []
        options = Options(tmp_path / folder, str(tiny_backbone), only=rows, say=said.append)
        Grid().run(written(BOTH), options)
        return Store(tmp_path / folder), said

    return run


def records(store, experiment, row, backbone):
    return [store.find(cell) for cell in cells_of(experiment, row, "demo", 5, str(backbone))]


def test_one_run_yields_both_and_the_networks_are_what_a_run_without_a_reader_gives(ran, written, tiny_backbone):
    store, said = ran([])
    assert "0 of 4 cells are finished and kept, 2 to run, which yield 2 more" in said[0]
    experiment = written(BOTH)
    words = records(store, experiment, "words", tiny_backbone)
    found = records(store, experiment, "alone", tiny_backbone)
    apart, _ = ran(["alone"], "apart")
    for own, reader, other in zip(found, words, records(apart, experiment, "alone", tiny_backbone), strict=True):
        assert own is not None
        assert reader is not None
        assert other is not None
        assert {k: v for k, v in own.items() if k not in TIMES} == {k: v for k, v in other.items() if k not in TIMES}
        assert set(own["seconds"]) == set(other["seconds"])
        assert reader["scores"] != own["scores"] == reader["scores_of_networks"]


def test_a_row_of_networks_alone_is_run_where_its_twin_is_finished_or_not_asked_for(ran, written, tiny_backbone):
    store, said = ran(["alone"])
    assert said[0].partition(" The first")[0].endswith("0 of 2 cells are finished and kept, 2 to run.")
    before = [cell.path for cell in cells_of(written(BOTH), "alone", "demo", 5, str(tiny_backbone))]
    kept = [store.read(path) for path in before]
    _, said = ran([])
    assert said[0].partition(" The first")[0].endswith("2 of 4 cells are finished and kept, 2 to run.")
    assert [store.read(path) for path in before] == kept  # finished cells are never run again, nor written


def test_networks_are_run_where_only_the_run_with_words_is_kept(ran, written, tmp_path, tiny_backbone):
    experiment = written(BOTH)
    for cell in cells_of(experiment, "words", "demo", 5, str(tiny_backbone)):
        Store(tmp_path / "results").write(cell.path, record_of(cell, 0.5, data="demo"))
    _, said = ran([])
    assert said[0].partition(" The first")[0].endswith("2 of 4 cells are finished and kept, 2 to run.")
