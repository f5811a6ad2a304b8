"""Inputs made before they are asked for."""

import threading

import pytest

from jointmatch.training import ahead
from jointmatch.training.ahead import Ahead
from tests.unit.training.toy import tiny_run


def test_what_is_expected_is_made_once_and_in_another_thread():
    makers: list[str] = []

    def make() -> int:
        makers.append(threading.current_thread().name)
        return 7

    inputs: Ahead[int] = Ahead(enabled=True)
    inputs.expect("a", make)
    inputs.expect("a", make)
    assert inputs.take("a", make) == 7
    assert len(makers) == 1
    assert makers[0].startswith("inputs")
    assert inputs.take("a", make) == 7
    assert makers[1] == threading.current_thread().name


def test_disabled_it_makes_everything_when_asked():
    inputs: Ahead[int] = Ahead(enabled=False)
    inputs.expect("a", lambda: pytest.fail("was made"))
    assert inputs.take("a", lambda: 3) == 3


def test_an_error_is_that_of_who_asks():
    inputs: Ahead[int] = Ahead(enabled=True)
    inputs.expect("a", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        inputs.take("a", lambda: 1)


def test_what_nobody_comes_for_is_dropped(monkeypatch):
    monkeypatch.setattr(ahead, "MOST", 3)
    inputs: Ahead[int] = Ahead(enabled=True)
    for key in range(10):
        inputs.expect(key, lambda: 1)
    assert inputs.take(9, lambda: 2) == 1
    assert inputs.take(0, lambda: 2) == 2
    assert len(inputs._waiting) <= 3


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

    def spy(self, key, make):
        taken.append(key in self._waiting)
        return original(self, key, make)

    monkeypatch.setattr(Ahead, "take", spy)
    monkeypatch.setattr(Ahead, "__init__", _enabled(Ahead.__init__))
    assert tiny_run(tiny_backbone, settings).history == plain
    if algorithm in ("jointmatch", "supervised"):
        first = len(taken) // 6  # of six steps
        assert taken == [False] * first + [True] * (len(taken) - first)


def _enabled(original):
    return lambda self, enabled: original(self, True)
