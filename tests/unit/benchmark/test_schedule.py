"""Work over processes: failures stay alone, a process that dies is replaced."""

import os
import time
from pathlib import Path

import pytest
import torch

from jointmatch.benchmark import grid, schedule
from jointmatch.benchmark.cell import Cell
from jointmatch.benchmark.suite import Options
from jointmatch.benchmark.work import Unit, stacked, thinned, units_of
from jointmatch.data.splits import Splits, Texts
from jointmatch.errors import ConfigError


def cell(data: str, seed: int = 0) -> Cell:
    return Cell(data, 10, seed, {"algorithm": {"name": "x"}}, "", {})


def pretended(unit: Unit):
    """Stands in for a run; a module's function, so that another process can find it."""
    (first,) = unit.cells
    if first.data == "bad":
        raise ConfigError(["no good"])
    if first.data == "deadly":
        os._exit(1)
    return [(first, {"threads": os.environ.get("OMP_NUM_THREADS")})]


@pytest.fixture
def work(monkeypatch, tmp_path):
    monkeypatch.setattr(schedule, "run_unit", pretended)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)

    def work(names: list[str], jobs: int):
        done, failed = {}, {}
        units = [Unit([cell(name)], tmp_path) for name in names]
        schedule.work_off(
            units, jobs, lambda c, r: done.update({c.data: r}), lambda u, e: failed.update({u.cells[0].data: str(e)})
        )
        return done, failed

    return work


def test_a_run_that_fails_ends_no_other(work):
    done, failed = work(["a", "bad", "b"], 1)
    assert sorted(done) == ["a", "b"]
    assert "no good" in failed["bad"]


def test_neither_a_failure_nor_a_process_that_dies_every_time_takes_others_with_it(work):
    done, failed = work(["deadly", "a", "bad", "b"], 2)
    assert sorted(done) == ["a", "b"]
    assert sorted(failed) == ["bad", "deadly"]
    assert "without a word" in failed["deadly"]
    assert done["a"]["threads"] == str(max(1, (os.cpu_count() or 1) // 2))
    assert "OMP_NUM_THREADS" not in os.environ


def slow(unit: Unit):
    time.sleep(0.3)
    (unit.results / unit.cells[0].data).touch()
    return [(unit.cells[0], {})]


def test_nothing_more_is_begun_once_it_is_stopped(monkeypatch, tmp_path):
    """What two processes have in work, and what lies ready for them, is finished; of twelve most are not begun."""
    monkeypatch.setattr(schedule, "run_unit", slow)

    def stop(cell, record):
        raise KeyboardInterrupt

    units = [Unit([cell(str(number))], tmp_path) for number in range(12)]
    with pytest.raises(KeyboardInterrupt):
        schedule.work_off(units, 2, stop, lambda unit, error: None)
    assert len(list(tmp_path.iterdir())) <= 7


def test_first_seeds_come_first_and_a_unit_holds_seeds_of_one_row():
    rows = [[cell("a", s) for s in range(3)], [cell("b", s) for s in range(2)]]
    alone = [[(c.data, c.seed) for c in unit] for unit in units_of(rows)]
    assert alone == [[("a", 0)], [("b", 0)], [("a", 1)], [("b", 1)], [("a", 2)]]
    pairs = [[(c.data, c.seed) for c in unit] for unit in units_of(rows, size=2)]
    assert pairs == [[("a", 0), ("a", 1)], [("b", 0), ("b", 1)], [("a", 2)]]


@pytest.mark.parametrize(
    ("kind", "asked", "sizes"), [("cuda", None, [3]), ("cpu", None, [1, 1, 1]), ("cuda", 2, [2, 1])]
)
def test_all_seeds_of_a_row_go_at_once_on_a_gpu_unless_it_is_said(written, monkeypatch, tmp_path, kind, asked, sizes):
    seen: list[Unit] = []
    monkeypatch.setattr(grid, "find_device", lambda name: torch.device(kind))
    monkeypatch.setattr(grid, "work_off", lambda units, *_: seen.extend(units))
    experiment = written('data = { demo = 5 }\nseeds = 3\nsettings.training.mode = "lite"\nvariants.a = {}\n')
    grid.Grid().run(experiment, Options(tmp_path, together=asked, say=lambda text: None))
    assert [len(unit.cells) for unit in seen] == sizes


@pytest.mark.parametrize(("jobs", "compiled"), [(1, True), (2, False)])
def test_layers_are_compiled_where_a_process_has_three_rows_to_train(written, monkeypatch, tmp_path, jobs, compiled):
    """Four rows."""
    seen: list[Unit] = []
    monkeypatch.setattr(grid, "find_device", lambda name: torch.device("cuda"))
    monkeypatch.setattr(grid, "work_off", lambda units, *_: seen.extend(units))
    rows = "".join(f"variants.{name}.algorithm.tau = 0.{name}\n" for name in "6789")
    experiment = written('data = { demo = 5 }\nseeds = 3\nsettings.training.mode = "lite"\n' + rows)
    grid.Grid().run(experiment, Options(tmp_path, jobs=jobs, say=lambda text: None))
    assert [unit.compiled for unit in seen] == [compiled] * 4


@pytest.mark.parametrize(
    ("kind", "wanted", "own", "said"),
    [
        ("cuda", True, {}, "on"),
        ("cuda", False, {}, None),
        ("cpu", True, {}, None),
        ("cuda", True, {"compiled": "off"}, "off"),
    ],
)
def test_an_experiment_has_the_last_word_on_compiling(monkeypatch, kind, wanted, own, said):
    monkeypatch.setattr("jointmatch.networks.find_device", lambda name: torch.device(kind))
    found = stacked({"network": own}, wanted)["network"]
    assert found.get("compiled") == said
    assert found["stacked"] == "on"


def test_a_thinned_pool_has_a_tenth_of_its_rarest_class():
    """Three classes of 2000: shares 1, 10^-0.5 = 0.316 and 0.1 in an order the seed draws."""
    labels = [0, 1, 2] * 2000
    texts = Texts([str(i) for i in range(6000)], labels)
    splits = Splits(["a", "b", "c"], texts.rows(range(3)), texts, texts)
    found = thinned(splits, 10, seed=0)
    counts = sorted(found.pool.labels.count(c) for c in range(3))
    assert counts == pytest.approx([200, 632, 2000], rel=0.15)
    assert found.dev is not None
    assert counts != sorted(found.dev.labels.count(c) for c in range(3))  # drawn on its own
    assert len(found.labeled) == 3
    assert found.test is None


def test_nothing_is_started_after_the_deadline():
    from jointmatch.benchmark.work import run_unit

    assert run_unit(Unit([cell("a")], Path("nowhere"), deadline=0)) == []
