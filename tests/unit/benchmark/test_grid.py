"""What a grid of runs says, and how the command line's options reach its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch

from jointmatch.benchmark import Store, grid
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.suite import Options
from jointmatch.benchmark.suites import strangers
from jointmatch.benchmark.work import Unit
from jointmatch.errors import DataError, InputError, TrainingError
from tests.unit.benchmark.conftest import keep, record_of

ROWS = """
data = { demo = 5 }
seeds = 3
references = ["label_spreading", "supervised"]
settings.training.mode = "lite"
variants.first.algorithm.tau = 0.7
variants.again.algorithm.tau = 0.7
variants.other.algorithm.tau = 0.9
"""


@pytest.fixture
def seen(monkeypatch) -> list[Unit]:
    """Instead of being run, the units of a grid end up here; the first two of them leave records."""
    units: list[Unit] = []

    def work_off(given: Sequence[Unit], jobs: int, finished: Callable, failed: Callable) -> None:
        units.extend(given)
        for cell in [cell for unit in given[:2] for cell in unit.cells]:
            record = record_of(cell, 0.5) | {"seconds": {"features": 1.5, "training": 2.5}}
            if cell.reference:
                record["baselines"]["label_spreading"] = {"test": {"accuracy": 0.25}}
            finished(cell, record)

    monkeypatch.setattr(grid, "work_off", work_off)
    return units


def test_a_finished_cell_is_told_by_the_row_that_asks_for_it_and_with_that_rows_score(written, tmp_path, seen):
    said: list[str] = []
    experiment = written(ROWS.replace("seeds = 3", "seeds = [4]"))
    options = Options(tmp_path, only=["again", "label_spreading"], together=1, say=said.append)
    grid.Grid().run(experiment, options)
    (ours,) = cells_of(experiment, "first", "demo", 5)
    (theirs,) = cells_of(experiment, "supervised", "demo", 5)
    assert said[1:] == [
        f"again  demo 5 ({ours.key[:6]})  seed 4  dev 50.00  test 50.00  4 s  (1 of 2)",
        f"label_spreading  demo 5 ({theirs.key[:6]})  seed 4  test 25.00  4 s  (2 of 2)",
    ]


def test_cells_that_another_process_took_are_told_from_those_it_is_at(written, monkeypatch, tmp_path):
    said: list[str] = []
    experiment = written(ROWS.replace("seeds = 3", "seeds = [4, 5]"))
    first, _ = cells_of(experiment, "first", "demo", 5)

    def elsewhere(units: Sequence[Unit], jobs: int, finished: Callable, failed: Callable) -> None:
        Store(tmp_path).write(first.path, record_of(first, 0.5))

    monkeypatch.setattr(grid, "work_off", elsewhere)
    grid.Grid().run(experiment, Options(tmp_path, only=["first"], together=1, say=said.append))
    assert said[1:] == [
        "Finished meanwhile, by another process or before a failure: 1 of these cells.",
        "1 cells are left to another process, which is running them.",
    ]


def test_what_labels_cannot_be_drawn_for_is_left_out_before_anything_is_run(written, tmp_path, seen):
    said: list[str] = []
    options = Options(tmp_path, only=["first"], together=1, say=said.append)
    grid.Grid().run(written(ROWS.replace("demo = 5", "demo = [5, 500]")), options)
    assert said[0].startswith(
        "Left out: 3 cells on demo with 500 labels per class. 500 labels per class were asked for"
    )
    assert "0 of 6 cells are finished and kept, 3 to run." in said[1]
    assert [cell.labels for unit in seen for cell in unit.cells] == [5, 5, 5]
    with pytest.raises(DataError, match=r"^Nothing can be run on demo with 500 labels per class\. 500 labels"):
        grid.Grid().run(written(ROWS.replace("demo = 5", "demo = 500")), options)


def test_failed_cells_are_not_said_to_be_with_another_process(written, tmp_path, monkeypatch):
    said: list[str] = []

    def work_off(units: Sequence[Unit], jobs: int, finished: Callable, failed: Callable) -> None:
        for unit in units:
            failed(unit, ValueError("no"))

    monkeypatch.setattr(grid, "work_off", work_off)
    with pytest.raises(TrainingError, match="3 of 3 cells failed"):
        grid.Grid().run(written(ROWS), Options(tmp_path, only=["first"], say=said.append))
    assert not any("left to" in text or "meanwhile" in text for text in said)


def test_a_run_that_kept_its_start_says_so(written, tmp_path, monkeypatch):
    said: list[str] = []
    full = 'data = { demo = 5 }\nseeds = 1\nsettings.training.mode = "full"\n[variants.first]'

    def work_off(units: Sequence[Unit], jobs: int, finished: Callable, failed: Callable) -> None:
        (cell,) = units[0].cells
        finished(cell, record_of(cell, 0.5) | {"seconds": {"training": 2.0}, "kept_step": 0})

    monkeypatch.setattr(grid, "work_off", work_off)
    grid.Grid().run(written(full), Options(tmp_path, say=said.append))
    assert "test 50.00  (the start is kept)  2 s" in said[1]


def test_a_time_limit_is_told_with_how_many_cells_may_be_under_way_when_it_comes(written, tmp_path, seen):
    """Nine cells, as first and again are the same, in units of 2, 2, 2, 1, 1 and 1; the first two units end."""
    said: list[str] = []
    grid.Grid().run(written(ROWS), Options(tmp_path, jobs=2, together=2, seconds=0, say=said.append))
    assert said[1] == "No cell is begun after 0 s; those under way then, 4 at most, are finished first."
    assert said[-1] == "Time is up: 5 cells are left. The same command goes on with them."
    said.clear()
    grid.Grid().run(written(ROWS), Options(tmp_path, jobs=9, together=1, seconds=0.5, say=said.append))
    assert said[1] == "No cell is begun after 0.5 s; those under way then, 9 at most, are finished first."
    said.clear()
    grid.Grid().run(written(ROWS), Options(tmp_path, say=said.append))
    assert not any("begun" in text for text in said)


@pytest.mark.parametrize(("asked", "own"), [(True, "on"), (False, "off"), (None, "auto")])
def test_the_command_line_decides_on_compiling_over_the_experiment(written, monkeypatch, tmp_path, seen, asked, own):
    monkeypatch.setattr(grid, "why_not_compiled", lambda device: None)
    experiment = written(ROWS + 'variants.first.network.compiled = "auto"\n')
    grid.Grid().run(experiment, Options(tmp_path, only=["first"], compiled=asked, say=lambda text: None))
    cells = [cell for unit in seen for cell in unit.cells]
    assert [cell.asked["network"]["compiled"] for cell in cells] == [own] * 3
    assert [cell.path for cell in cells] == [cell.path for cell in cells_of(experiment, "first", "demo", 5)]


def test_compiling_is_refused_where_there_is_no_gpu(written, monkeypatch, tmp_path, seen):
    monkeypatch.setattr(grid, "find_device", lambda name: torch.device("cpu"))
    with pytest.raises(InputError, match=r"cannot be compiled: .* this is cpu\. Leave --compiled out\."):
        grid.Grid().run(written(ROWS), Options(tmp_path, compiled=True))
    assert seen == []


def test_data_sets_that_nothing_is_known_of_are_named_in_one_line(written, monkeypatch, tmp_path):
    """ag_news is a benchmark, mine has a result, here has a folder; agnews and none are neither."""
    monkeypatch.setenv("JOINTMATCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "here").mkdir(parents=True)
    (tmp_path / "data" / "here" / "pool.csv").write_text("text,label\na,b\n")
    store = Store(tmp_path / "results")
    experiment = written("data = { demo = 5, ag_news = 5, agnews = 5, mine = 5, here = 5, none = 5 }\nvariants.a = {}")
    keep(store, experiment, "a", [0.5], "mine", 5)
    assert strangers(experiment, store, "auto") == (
        "No results, and no known benchmark: agnews, none. Did you mean 'ag_news'? "
        "A data set of your own is run from its folder in --data-dir."
    )
    assert strangers(experiment.on_sets(["ag_news", "mine", "here", "demo"]), store, "auto") is None
