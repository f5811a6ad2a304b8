"""Views that are a function of the text alone; dear ones are made once, even if the run is killed."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from jointmatch.augment import BackTranslation, Chain, Deletion, make_views, parse
from jointmatch.augment.made import _attempt
from jointmatch.cache import Cache

TEXTS = [f"the quick brown fox number {i} jumps over the lazy dog" for i in range(50)]


class Slow:
    """A translator that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken: set[str] = set()

    def __call__(self, texts: list[str]) -> list[str]:
        if self.broken & set(texts):
            raise RuntimeError
        self.asked += texts
        return [text.upper() for text in texts]


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def dear(slow) -> BackTranslation:
    return BackTranslation(slow, key="slow-1")


def test_a_view_depends_on_its_text_and_not_on_the_others():
    augment = parse("deletion:0.3+swap:0.3")
    views = make_views(TEXTS, augment)
    assert views != TEXTS
    assert make_views(TEXTS[::-1], augment) == views[::-1]
    assert make_views(TEXTS[7:8], augment, chunk=1) == views[7:8]
    assert make_views(TEXTS * 2, augment, chunk=3) == views * 2


def test_another_index_and_another_setting_give_other_views():
    views = make_views(TEXTS, Deletion(0.3))
    assert make_views(TEXTS, Deletion(0.3), index=1) != views
    assert make_views(TEXTS, Deletion(0.4)) != views


def test_a_cheap_view_is_not_looked_for_or_left_on_disk(tmp_path, monkeypatch):
    cache = Cache("views", tmp_path)
    monkeypatch.setattr(Cache, "get", None)
    monkeypatch.setattr(Cache, "put", None)
    assert make_views(TEXTS, Deletion(0.3), cache=cache) != TEXTS


def test_a_dear_view_is_made_once(dear, slow):
    first = make_views([*TEXTS, *TEXTS], dear, chunk=8)
    assert slow.asked == TEXTS
    assert first == [text.upper() for text in [*TEXTS, *TEXTS]]
    assert make_views(TEXTS[::-1], dear) == first[:50][::-1]
    assert len(slow.asked) == 50


def test_another_view_of_the_same_text_is_made_for_another_index(dear, slow):
    make_views(TEXTS, dear)
    make_views(TEXTS, dear, index=1)
    assert slow.asked == TEXTS + TEXTS


def test_what_failed_is_the_text_itself_and_tried_again(dear, slow):
    slow.broken = {TEXTS[3]}
    views = make_views(TEXTS, dear, chunk=8)
    assert views == [text if i == 3 else text.upper() for i, text in enumerate(TEXTS)]
    slow.broken, slow.asked = set(), []
    assert make_views(TEXTS, dear)[3] == TEXTS[3].upper()
    assert slow.asked == [TEXTS[3]]


@pytest.mark.parametrize("nothing", [None, ""])
def test_where_a_function_gave_nothing_it_is_asked_again(nothing):
    answers: dict[str, str | None] = dict.fromkeys(TEXTS[:2], nothing)
    augment = BackTranslation(lambda texts: [answers[text] for text in texts], key="limited-1")
    assert make_views(TEXTS[:2], augment) == TEXTS[:2]
    answers = {text: text.upper() for text in TEXTS[:2]}
    assert make_views(TEXTS[:2], augment) == [text.upper() for text in TEXTS[:2]]


def test_a_view_that_is_rightly_the_text_is_not_tried_again(dear, slow):
    make_views(["SAME"], dear)
    make_views(["SAME"], dear)
    assert slow.asked == ["SAME"]


def test_a_chain_makes_dear_parts_in_one_go_and_fails_as_a_whole(dear, slow):
    slow.broken = {TEXTS[0]}
    chain = Chain([dear, Deletion(0.3)])
    assert chain.dear
    first, second = _attempt(chain, TEXTS[:2], 0, chain.key)
    assert first is None
    assert second is not None
    assert second.isupper()
    assert len(second.split()) < len(TEXTS[1].split())


def test_odd_texts_go_through_the_cache(dear):
    odd = ["", "\ud800", "\0", "\U0001f600", "\u05e9\u05dc\u05d5\u05dd", "\n"]
    assert make_views(odd, dear) == make_views(odd, dear)
    assert len(make_views(odd, dear)) == len(odd)


def test_progress_counts_every_text_once(dear):
    seen: list[int] = []
    make_views(TEXTS[:10], dear, progress=seen.append, chunk=4)
    assert seen == [0, 4, 4, 2]
    seen.clear()
    make_views(TEXTS, dear, progress=seen.append, chunk=30)
    assert seen == [10, 30, 10]
    seen.clear()
    make_views(TEXTS, Deletion(0.1), progress=seen.append, chunk=20)
    assert seen == [20, 20, 10]


def test_no_texts_make_no_views(dear):
    assert make_views([], dear) == []
    assert make_views([], Deletion()) == []


def test_a_cache_that_cannot_be_written_costs_time_not_views(dear, slow, tmp_path):
    (tmp_path / "file").touch()
    cache = Cache("views", tmp_path / "file")
    assert cache.problem
    assert make_views(TEXTS, dear, cache=cache) == [text.upper() for text in TEXTS]


SCRIPT = """
import sys, time
from jointmatch.augment import BackTranslation, make_views

def slow(texts):
    with open(sys.argv[1], "a") as log:
        log.writelines(text + "\\n" for text in texts)
    time.sleep(0.1)
    return [text.upper() for text in texts]

views = make_views([f"text {i}" for i in range(60)], BackTranslation(slow, key="slow"), chunk=3)
print(views == [f"TEXT {i}" for i in range(60)])
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    log = tmp_path / "log"
    command = [sys.executable, "-c", SCRIPT, str(log)]
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 30
    while not (log.exists() and len(log.read_text().split("\n")) > 15):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = log.read_text().splitlines()
    assert len(before) < 60
    log.unlink()
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"
    again = log.read_text().splitlines()
    assert len(set(before) & set(again)) <= 3  # the chunk that was under way
    assert set(before) | set(again) == {f"text {i}" for i in range(60)}


def test_two_processes_may_fill_one_cache(tmp_path):
    commands = [[sys.executable, "-c", SCRIPT, str(tmp_path / f"log{i}")] for i in range(2)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    assert [process.communicate()[0] for process in processes] == ["True\n", "True\n"]


def test_each_text_has_a_generator_of_its_own():
    drawn: dict[str, float] = {}

    class Noted(Deletion):
        def __call__(self, texts, rng: np.random.Generator) -> list[str]:
            drawn[texts[0]] = rng.random()
            return list(texts)

    make_views(TEXTS, Noted(0.1))
    assert len(set(drawn.values())) == len(TEXTS)
