"""Work over processes: failures stay alone, a process that dies is replaced."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from jointmatch.benchmark import grid, schedule
from jointmatch.benchmark.cell import Cell
from jointmatch.benchmark.store import LOCK, Store
from jointmatch.benchmark.suite import Options
from jointmatch.benchmark.work import Unit, compiling, run_unit, thinned, units_of
from jointmatch.data.splits import Splits, Texts
from jointmatch.errors import ConfigError, TrainingError
from jointmatch.files import locked


def cell(data: str, seed: int = 0) -> Cell:
    settings = {"algorithm": {"name": "supervised"}, "training": {"recipe": "best", "mode": "lite"}}
    return Cell(data, 10, seed, settings, "", {})


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


def diverging(unit: Unit):
    """Seeds together fail where one of them does."""
    if any(own.seed == 1 for own in unit.cells):
        raise TrainingError("The loss is no longer a number")
    return [(own, {}) for own in unit.cells]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_seed_that_fails_takes_none_of_its_row_with_it(monkeypatch, tmp_path, jobs):
    monkeypatch.setattr(schedule, "run_unit", diverging)
    units = [Unit([cell("a", seed) for seed in range(3)], tmp_path), Unit([cell("b", 2)], tmp_path)]
    done: list[tuple[str, int]] = []
    failed: list[int] = []
    schedule.work_off(
        units, jobs, lambda c, r: done.append((c.data, c.seed)), lambda u, e: failed.extend(c.seed for c in u.cells)
    )
    assert sorted(done) == [("a", 0), ("a", 2), ("b", 2)]
    assert failed == [1]


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
    """What two processes have in work is finished; of twelve most are not begun, even what lies ready for them."""
    monkeypatch.setattr(schedule, "run_unit", slow)

    def stop(cell, record):
        raise KeyboardInterrupt

    units = [Unit([cell(str(number))], tmp_path) for number in range(12)]
    with pytest.raises(KeyboardInterrupt):
        schedule.work_off(units, 2, stop, lambda unit, error: None)
    assert len(list(tmp_path.iterdir())) <= 4


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
    found = compiling({"network": own}, wanted)["network"]
    assert found.get("compiled") == said


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


HOLDER = """
import sys
from jointmatch.files import locked
with locked(sys.argv[1], sys.argv[2:]) as had:
    print(sorted(had), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path):
    """Another process that is at the first of two seeds until it is told to end."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / LOCK), cell("a").path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{[cell('a').path]}\n"
        yield process
        process.kill()


def test_what_has_been_finished_meanwhile_is_not_run_again(monkeypatch, tmp_path):
    ran: list[int] = []

    def run(cells, *rest):
        ran.extend(own.seed for own in cells)
        return [{"seed": own.seed} for own in cells]

    monkeypatch.setattr("jointmatch.benchmark.work._run", run)
    monkeypatch.setattr(Store, "find", lambda self, cell: self.read(cell.path))
    Store(tmp_path).write(cell("a").path, {"seed": 0})
    found = run_unit(Unit([cell("a"), cell("a", 1)], tmp_path))
    assert ran == [1]
    assert [own.seed for own, _ in found] == [1]


def test_cells_that_another_process_is_at_are_left_to_it(monkeypatch, tmp_path, held):
    monkeypatch.setattr("jointmatch.benchmark.work._run", lambda cells, *rest: [{"seed": c.seed} for c in cells])
    monkeypatch.setattr(Store, "find", lambda self, cell: self.read(cell.path))
    unit = Unit([cell("a"), cell("a", 1)], tmp_path)
    assert [own.seed for own, _ in run_unit(unit)] == [1]
    held.kill()  # the system lets go of what it held
    held.wait()
    assert [own.seed for own, _ in run_unit(unit)] == [0]


def test_a_disk_without_locks_holds_nobody_up(monkeypatch, tmp_path):
    def refuse(*args):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.lockf", refuse)
    with locked(tmp_path / LOCK, ["a", "b"]) as had:
        assert had == {"a", "b"}


def test_nothing_is_started_after_the_deadline():
    from jointmatch.benchmark.work import run_unit

    assert run_unit(Unit([cell("a")], Path("nowhere"), deadline=0)) == []
