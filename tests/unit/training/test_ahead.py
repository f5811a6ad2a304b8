"""Inputs made before they are asked for."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from jointmatch.algorithms import SAT
from jointmatch.listener import Listener
from jointmatch.training import ahead, full
from jointmatch.training.ahead import Ahead
from jointmatch.training.full import background
from jointmatch.training.inputs import Inputs
from tests.unit.training.toy import tiny_run

BACKGROUND = ("thread", "processes")


class Maker:
    """Tells where it was asked."""

    def __init__(self) -> None:
        self.calls = 0
        self.last = ""

    def where(self, number: int) -> tuple[int, int, str]:
        self.calls += 1
        self.last = threading.current_thread().name
        return number, os.getpid(), self.last

    def total(self, rows: np.ndarray, seed: int) -> int:
        return int(rows.sum()) + seed

    def other(self, rows: np.ndarray, seed: int) -> int:
        return -1

    def divided(self, number: int) -> int:
        return 1 // number

    def died(self, home: int) -> str:
        if os.getpid() != home:
            os.kill(os.getpid(), signal.SIGKILL)
        return "made at home"

    def homesick(self, home: int) -> str:
        """As what needs the device, which a forked process cannot have."""
        if os.getpid() != home:
            raise RuntimeError("cannot be done in a forked process")
        return "made at home"

    def stuck(self, home: int) -> str:
        if os.getpid() != home:
            time.sleep(60)
        return "made at home"


def test_what_is_expected_is_made_once_and_in_another_thread():
    maker = Maker()
    inputs = Ahead(maker, "thread")
    inputs.expect("where", 6)
    inputs.expect("where", 6)
    assert inputs.take("where", 6)[:2] == (6, os.getpid())
    assert maker.calls == 1
    assert maker.last.startswith("inputs")
    inputs.take("where", 6)
    assert maker.last == threading.current_thread().name


def test_in_another_process_this_one_does_nothing():
    maker = Maker()
    inputs = Ahead(maker, "processes")
    inputs.expect("where", 6)
    number, process, _ = inputs.take("where", 6)
    assert number == 6
    assert process != os.getpid()
    assert maker.calls == 0
    assert inputs.take("where", 7)[1] == os.getpid()  # not expected


def test_processes_of_several_makers_know_their_own():
    class Other(Maker):
        def total(self, rows: np.ndarray, seed: int) -> int:
            return 100

    runs = [Ahead(Maker(), "processes"), Ahead(Other(), "processes")]
    for inputs in runs:
        inputs.expect("total", np.array([1, 2]), 3)
    assert [inputs.take("total", np.array([1, 2]), 3) for inputs in runs] == [6, 100]


@pytest.mark.parametrize("where", BACKGROUND)
def test_other_arguments_and_other_methods_are_other_things(where):
    inputs = Ahead(Maker(), where)
    inputs.expect("total", np.array([1, 2]), 3)
    assert inputs.take("total", np.array([2, 2]), 3) == 7
    assert inputs.take("total", np.array([1, 2]), 4) == 7
    assert inputs.take("other", np.array([1, 2]), 3) == -1
    assert len(inputs._waiting) == 1
    assert inputs.take("total", np.array([1, 2]), 3) == 6
    assert not inputs._waiting


def test_here_everything_is_made_when_asked():
    maker = Maker()
    inputs = Ahead(maker, "here")
    inputs.expect("where", 1)
    assert maker.calls == 0
    assert inputs.take("where", 1)[0] == 1
    assert maker.calls == 1


@pytest.mark.parametrize("where", BACKGROUND)
def test_an_error_is_that_of_who_asks_and_nothing_else_is_said(where):
    said: list[str] = []
    inputs = Ahead(Maker(), where, said.append)
    inputs.expect("divided", 0)
    with pytest.raises(ZeroDivisionError):
        inputs.take("divided", 0)
    assert said == []


@pytest.mark.parametrize("fault", ["died", "homesick", "stuck"])
def test_what_goes_wrong_in_a_process_is_made_here_and_said_once(fault, monkeypatch):
    monkeypatch.setattr(ahead, "PATIENCE", 0.5)
    said: list[str] = []
    inputs = Ahead(Maker(), "processes", said.append)
    home = os.getpid()
    inputs.expect(fault, home)
    inputs.expect("where", 1)
    assert inputs.take(fault, home) == "made at home"
    assert len(said) == 1
    assert said[0].startswith("Views are not made in the background any more (")
    assert said[0].endswith("): slower, with the same results.")
    inputs.expect("where", 2)
    assert inputs.take("where", 1)[1] == home
    assert inputs.take("where", 2)[1] == home
    assert len(said) == 1


def test_no_room_for_a_process_is_no_end(monkeypatch):
    said: list[str] = []
    inputs = Ahead(Maker(), "processes", said.append)
    monkeypatch.setattr(os, "fork", _no_memory)
    inputs.expect("where", 1)
    assert inputs.take("where", 1)[1] == os.getpid()
    assert said == [
        "Views are not made in the background any more (OSError: [Errno 12] Cannot allocate memory): "
        "slower, with the same results."
    ]


def _no_memory() -> int:
    raise OSError(12, "Cannot allocate memory")


@pytest.mark.parametrize("fault", ["stuck", "second"])
def test_the_interpreter_ends_whatever_became_of_the_processes(fault):
    """It waits for those of a pool: one that is stuck, or that was left alone when the next could not be had."""
    code = """
import os, sys, time
from jointmatch.training import ahead

home, fork, forks = os.getpid(), os.fork, []

class Maker:
    def where(self):
        if os.getpid() != home:
            time.sleep(1000)
        return "here"

def only_one():
    forks.append(1)
    if len(forks) == 2:
        raise OSError(11, "Resource temporarily unavailable")
    return fork()

ahead.PATIENCE = 0.5
if sys.argv[1] == "second":
    os.fork = only_one
inputs = ahead.Ahead(Maker(), "processes", print)
inputs.expect("where")
print(inputs.take("where"))
"""
    done = subprocess.run([sys.executable, "-c", code, fault], capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "here"


def test_processes_are_deaf_to_an_interrupt(capfd):
    """It is for the one that trains, which finishes its step; a terminal sends it to all of them."""
    said: list[str] = []
    inputs = Ahead(Maker(), "processes", said.append)
    inputs.expect("where", -1)
    _, process, _ = inputs.take("where", -1)
    os.kill(process, signal.SIGINT)
    time.sleep(0.2)
    for number in range(4):
        inputs.expect("where", number)
    assert os.getpid() not in {inputs.take("where", number)[1] for number in range(4)}
    assert said == []
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("where", BACKGROUND)
def test_what_nobody_comes_for_is_dropped_a_step_later(where):
    """Three batches a step, of which one is asked for; at the fourth step those of the third and fourth wait."""
    inputs = Ahead(Maker(), where)
    for step in range(4):
        inputs.next_step()
        for number in range(3):
            inputs.expect("where", 10 * step + number)
        if step:
            inputs.take("where", 10 * step - 10)
    assert list(inputs._waiting) == [("where", number) for number in (21, 22, 30, 31, 32)]
    assert inputs.take("where", 1)[0] == 1


def test_a_steps_batches_wait_however_many_the_next_one_has():
    maker = Maker()
    inputs = Ahead(maker, "thread")
    for step in range(2):
        inputs.next_step()
        for number in range(200):
            inputs.expect("where", 1000 * step + number)
    assert all(inputs.take("where", number)[2].startswith("inputs") for number in range(200))
    assert len(inputs._waiting) == 200


def test_a_process_that_must_not_have_children_has_none(monkeypatch):
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(ahead.multiprocessing, "current_process", lambda: SimpleNamespace(daemon=True))
    assert not ahead.can_fork()


@pytest.mark.parametrize("where", BACKGROUND)
def test_a_warning_that_is_shown_once_is_shown_once(where):
    """To put one warning aside makes Python forget which others it has shown."""
    inputs = Ahead(Maker(), where)
    inputs.expect("where", -1)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for number in range(4):
            inputs.expect("where", number)
            warnings.warn("said once", stacklevel=1)
    assert len([w for w in shown if str(w.message) == "said once"]) == 1


@pytest.mark.parametrize("where", BACKGROUND)
def test_what_is_closed_makes_everything_when_asked(where):
    said: list[str] = []
    inputs = Ahead(Maker(), where, said.append)
    inputs.expect("where", 1)
    inputs.close()
    inputs.expect("where", 2)
    assert {inputs.take("where", number)[1] for number in (1, 2)} == {os.getpid()}
    assert said == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_run_leaves_no_process_behind(tiny_backbone, monkeypatch, fails):
    made: list[Ahead] = []
    inner = Ahead.__init__

    def noted(self, *args):
        made.append(self)
        inner(self, *args)

    class Failing(Listener):
        def evaluation(self, record):
            if fails:
                raise RuntimeError("the listener is at fault")

    monkeypatch.setattr(Ahead, "__init__", noted)
    monkeypatch.setattr(full, "background", lambda inputs, device: "processes")
    settings: dict[str, dict[str, Any]] = {
        "training": {"mode": "full"},
        "augment": {"weak": "deletion:0.3", "strong": ["swap:0.3"]},
    }
    with pytest.raises(RuntimeError, match="at fault") if fails else nullcontext():
        tiny_run(tiny_backbone, settings, listener=Failing())
    assert [inputs._pool for inputs in made] == [None]


class Reading(Inputs):
    """Inputs that are written, or not."""

    def __init__(self, written: bool) -> None:
        self.written = written

    def written_afresh(self) -> bool:
        return self.written


def test_processes_are_for_texts_that_are_written_beside_a_gpu(monkeypatch):
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 8)
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    assert background(Reading(True), gpu) == "processes"
    assert background(Reading(False), gpu) == "thread"
    assert background(Reading(True), cpu) == "here"
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 2)
    assert background(Reading(True), gpu) == "thread"  # there is no core for them
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(ahead.multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert background(Reading(True), gpu) == "thread"


@pytest.mark.parametrize("algorithm", ["jointmatch", "multimatch", "sat", "mixtext", "supervised"])
@pytest.mark.parametrize("training", [{}, {"update": "alternating"}, {"accumulate": 2}])
@pytest.mark.parametrize("where", BACKGROUND)
def test_a_run_takes_the_same_course_with_inputs_made_ahead(tiny_backbone, monkeypatch, algorithm, training, where):
    """And, where the algorithm does not choose texts or views by itself, all but the first step's are."""
    settings = {
        "algorithm": {"name": algorithm},
        "training": {"mode": "full", **training},
        "augment": {"weak": "deletion:0.3", "strong": ["swap:0.3"]},
    }
    plain = tiny_run(tiny_backbone, settings).history
    taken = whether_found(monkeypatch)
    monkeypatch.setattr(full, "background", lambda inputs, device: where)
    assert tiny_run(tiny_backbone, settings).history == plain
    if algorithm in ("jointmatch", "supervised"):
        first = len(taken) // 6  # of six steps
        assert taken == [False] * first + [True] * (len(taken) - first)


def whether_found(monkeypatch):
    """Of each batch that is taken, whether it had been begun."""
    taken: list[bool] = []
    original = Ahead.take

    def spy(self, method, *args):
        before = len(self._waiting)
        found = original(self, method, *args)
        taken.append(len(self._waiting) < before)
        return found

    monkeypatch.setattr(Ahead, "take", spy)
    return taken


def test_a_run_drops_what_it_does_not_come_for(tiny_backbone, monkeypatch):
    """A method that does not say that it chooses: of its students' batches this step's and the next one's wait."""
    waiting: list[int] = []
    original = Ahead.take

    def spy(self, method, *args):
        waiting.append(sum(key[0] == "student" for key in self._waiting))
        return original(self, method, *args)

    monkeypatch.setattr(Ahead, "take", spy)
    monkeypatch.setattr(SAT, "chooses", False)
    monkeypatch.setattr(full, "background", lambda inputs, device: "thread")
    settings: dict[str, dict[str, Any]] = {
        "algorithm": {"name": "sat"},
        "training": {"mode": "full"},
        "augment": {"weak": "none", "strong": ["swap:0.3", "deletion:0.3"]},
    }
    tiny_run(tiny_backbone, settings)
    assert max(waiting) == 2


def test_a_step_of_many_batches_finds_all_of_them_made(tiny_backbone, monkeypatch):
    """Each of 24 texts by itself is read twice, and the labelled ones once: 49 batches in each of six steps."""
    taken = whether_found(monkeypatch)
    monkeypatch.setattr(full, "background", lambda inputs, device: "thread")
    tiny_run(tiny_backbone, {"training": {"mode": "full", "update": "alternating", "mu": 24, "evaluate_every": 6}})
    assert taken == [False] * 49 + [True] * 49 * 5


@pytest.mark.parametrize(
    "algorithm",
    [
        {"name": "sat"},
        {"name": "mixtext"},
        {"name": "aumst", "teacher_share": 0.0, "tau": 0.0},
        {"name": "decrisismb", "per_class": 1, "tau": 0.0},
    ],
    ids=lambda algorithm: algorithm["name"],
)
@pytest.mark.parametrize(("update", "batches"), [("joint", 0), ("alternating", 5)])
def test_what_only_the_labels_tell_is_not_made_before(tiny_backbone, monkeypatch, algorithm, update, batches):
    """But for the updates on labelled texts, which nobody chooses: one in each of five steps after the first."""
    begun: list[str] = []
    original = Ahead.expect

    def spy(self, method, *args):
        begun.append(method)
        original(self, method, *args)

    monkeypatch.setattr(Ahead, "expect", spy)
    monkeypatch.setattr(full, "background", lambda inputs, device: "thread")
    settings = {
        "algorithm": algorithm,
        "training": {"mode": "full", "update": update},
        "augment": {"weak": "none", "strong": ["swap:0.3", "deletion:0.3"]},
    }
    tiny_run(tiny_backbone, settings)
    assert begun.count("student") == batches
    assert "weak" in begun
