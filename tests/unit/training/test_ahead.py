"""Inputs made before they are asked for."""

import threading

import numpy as np
import pytest

from jointmatch.training import ahead
from jointmatch.training.ahead import Ahead
from tests.unit.training.toy import tiny_run


def test_what_is_expected_is_made_once_and_in_another_thread():
    makers: list[str] = []

    def make(number: int) -> int:
        makers.append(threading.current_thread().name)
        return number + 1

    inputs: Ahead[int] = Ahead(enabled=True)
    inputs.expect(make, 6)
    inputs.expect(make, 6)
    assert inputs.take(make, 6) == 7
    assert len(makers) == 1
    assert makers[0].startswith("inputs")
    assert inputs.take(make, 6) == 7
    assert makers[1] == threading.current_thread().name


def test_other_arguments_and_other_functions_are_other_things():
    inputs: Ahead[int] = Ahead(enabled=True)

    def first(rows: np.ndarray, seed: int) -> int:
        return int(rows.sum()) + seed

    def second(rows: np.ndarray, seed: int) -> int:
        return -1

    inputs.expect(first, np.array([1, 2]), 3)
    assert inputs.take(first, np.array([2, 2]), 3) == 7
    assert inputs.take(first, np.array([1, 2]), 4) == 7
    assert inputs.take(second, np.array([1, 2]), 3) == -1
    assert len(inputs._waiting) == 1
    assert inputs.take(first, np.array([1, 2]), 3) == 6
    assert not inputs._waiting


def test_disabled_it_makes_everything_when_asked():
    inputs: Ahead[None] = Ahead(enabled=False)
    made: list[int] = []
    inputs.expect(made.append, 1)
    assert made == []
    inputs.take(made.append, 1)
    assert made == [1]


def test_an_error_is_that_of_who_asks():
    inputs: Ahead[tuple[int, int]] = Ahead(enabled=True)
    inputs.expect(divmod, 1, 0)
    with pytest.raises(ZeroDivisionError):
        inputs.take(divmod, 1, 0)


def test_what_nobody_comes_for_is_dropped(monkeypatch):
    monkeypatch.setattr(ahead, "MOST", 3)
    inputs: Ahead[int] = Ahead(enabled=True)
    for number in range(10):
        inputs.expect(abs, number)
    assert list(inputs._waiting) == [("abs", number) for number in (7, 8, 9)]
    assert inputs.take(abs, 0) == 0


@pytest.mark.parametrize("algorithm", ["jointmatch", "multimatch", "sat", "mixtext", "supervised"])
@pytest.mark.parametrize("training", [{}, {"update": "alternating"}, {"accumulate": 2}])
def test_a_run_takes_the_same_course_with_inputs_made_ahead(tiny_backbone, monkeypatch, algorithm, training):
    """And, where the algorithm does not choose texts or views by itself, all but the first step's are."""
    settings = {
        "algorithm": {"name": algorithm},
        "training": {"mode": "full", **training},
        "augment": {"weak": "deletion:0.3", "strong": ["swap:0.3"]},
    }
    plain = tiny_run(tiny_backbone, settings).history
    taken: list[bool] = []
    original = Ahead.take

    def spy(self, make, *args):
        before = len(self._waiting)
        found = original(self, make, *args)
        taken.append(len(self._waiting) < before)
        return found

    monkeypatch.setattr(Ahead, "take", spy)
    monkeypatch.setattr(Ahead, "__init__", _enabled(Ahead.__init__))
    assert tiny_run(tiny_backbone, settings).history == plain
    if algorithm in ("jointmatch", "supervised"):
        first = len(taken) // 6  # of six steps
        assert taken == [False] * first + [True] * (len(taken) - first)


def _enabled(original):
    return lambda self, enabled: original(self, True)
