"""Apertium's engine over a fake program, and over the real one where it is installed."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from jointmatch.augment.translation.apertium import Apertium
from jointmatch.augment.translation.engine import Fault
from jointmatch.augment.translation.installation import Installation

FAKE = Path(__file__).with_name("fake_apertium.py")


class FakeInstallation(Installation):
    program: str | None = "fake"
    modes = ["eng-spa", "spa-eng"]  # noqa: RUF012

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, mode: str) -> list[str]:
        return [sys.executable, "-S", str(FAKE), str(self.folder / "calls")]


@pytest.fixture
def fake(tmp_path):
    engine = Apertium(workers=2, patience=0.5)
    engine.installation = FakeInstallation(tmp_path)
    yield engine
    engine.close()


real = pytest.mark.skipif(Apertium().missing() is not None, reason=f"needs {Apertium().missing()}")


@pytest.fixture(scope="module")
def apertium():
    engine = Apertium(workers=2)
    yield engine
    engine.close()


def test_every_text_gets_its_own_view_whatever_happens_to_its_neighbours(fake):
    texts = [f"a big dog sees number{i} today" for i in range(60)]
    expected: list[str | Fault] = [text.replace("big", "large") for text in texts]
    for i, word in {7: "dies", 20: "hangs", 33: "misnumbered", 34: "dies"}.items():
        texts[i], expected[i] = f"a big dog {word}", Fault.FAILED
    texts[50], expected[50] = "@user 123 \U0001f600", Fault.NOTHING
    assert fake.round_trip(texts, []) == expected
    assert fake.down is None


def test_a_text_that_comes_back_empty_is_no_view(fake):
    assert fake.round_trip(["it vanishes here", "big dogs"], []) == [Fault.EMPTY, "large dogs"]


def test_an_engine_that_is_gone_fails_at_once_and_says_so(fake, tmp_path):
    (tmp_path / "uninstalled").touch()
    assert fake.round_trip(["big dogs"] * 100, []) == [Fault.FAILED] * 100
    assert fake.down == "the process ended"
    (tmp_path / "uninstalled").unlink()
    assert fake.round_trip(["big dogs"] * 100, []) == [Fault.FAILED] * 100


def test_what_is_missing_comes_with_the_line_that_gets_it(tmp_path):
    engine = Apertium("cat")
    engine.installation = FakeInstallation(tmp_path)
    assert engine.missing() == (
        "apertium's eng-cat and cat-eng (found: eng-spa, spa-eng); get it with: sudo apt-get install apertium-eng-cat"
    )
    engine.installation.program = None
    assert str(engine.missing()).endswith("sudo apt-get install apertium apertium-eng-cat")


def test_a_language_without_a_known_package_is_doubted_and_no_package_made_up(tmp_path):
    engine = Apertium("spx")
    engine.installation = FakeInstallation(tmp_path)
    engine.installation.modes = ["eng-glg", "eng-ita", "eng-spa", "glg-eng_US", "spa-eng"]
    lack = str(engine.missing())
    assert lack.startswith("apertium's eng-spx and spx-eng (found: eng-glg, ")
    assert "'spx' may be misspelt. Did you mean 'spa'? Known there and back: cat, glg, spa; " in lack
    assert "apt-get" not in lack
    engine.installation.program = None
    lack = str(engine.missing())
    assert "the program apertium; get it with: sudo apt-get install apertium; 'spx' may be misspelt" in lack


def test_each_part_of_a_direction_flushes_and_marks_what_it_does_not_know(tmp_path):
    (tmp_path / "modes").mkdir()
    (tmp_path / "modes/eng-spa.mode").write_text("lt-proc 'a.bin' | tagger -g $2 'b.prob'|  lt-proc $1 'c.bin'\n")
    *_, shell = Installation(tmp_path).command("eng-spa")
    assert " ".join(shell.split()) == "lt-proc -z 'a.bin' | tagger -z -g 'b.prob' | lt-proc -z -g 'c.bin'"


def test_the_key_changes_with_the_rules(tmp_path):
    (tmp_path / "modes").mkdir()
    rules = tmp_path / "rules.bin"
    (tmp_path / "modes/eng-spa.mode").write_text(f"lt-proc '{rules}'")
    installation = Installation(tmp_path)
    installation.program = sys.executable
    rules.write_bytes(b"old")
    before = installation.fingerprint(["eng-spa"])
    rules.write_bytes(b"new")
    assert installation.fingerprint(["eng-spa"]) != before


NASTY = [
    "",
    "   ",
    "\0",
    "a good dog\0and a cat\0",
    r"special ^ $ / < > @ * # ~ + [ ] { } \ signs of the house",
    "^good<adj>$ [[t:b:1]]house[[/]] \\@ \\* {^a$}",
    "the *big* #house @home and *unknownword",
    "so happy \U0001f600\U0001f44d\U0001f3fd today \u2764\ufe0f",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 hello my friend",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u6211\u6628\u5929\u4e70\u7684\u624b\u673a",
    "first line\nsecond line\r\n\r\nthird line\tand a tab",
    "x" * 5000,
    "\ud800 lone surrogate in a text",
    "\u202eright to left override",
    "'media 5003' and 'tis the season",
    "...", "?!", "'", '"',
    "[n3] [n4] Xq0x Xq1x are mine",
]  # fmt: skip


@real
def test_strange_texts_neither_break_the_engine_nor_their_neighbours(apertium):
    texts = [text for i, nasty in enumerate(NASTY) for text in (nasty, f"The house number {i} is very beautiful.")]
    alone = [apertium.round_trip([text], [])[0] for text in texts]
    assert apertium.round_trip(texts, []) == alone
    assert Fault.FAILED not in alone
    assert all(str(i) in str(view) for i, view in enumerate(alone[1::2]))
    assert apertium.down is None


@real
def test_five_thousand_words_come_back_about_as_many(apertium):
    text = "The old farmer sold his car because the rain had destroyed the road, and nobody helped him. " * 295
    (view,) = apertium.round_trip([text], [])
    assert 0.7 < len(view.split()) / len(text.split()) < 1.4


@real
def test_a_worker_killed_from_outside_is_started_again(apertium):
    texts = [f"The big house number {i} is near the river." for i in range(400)]
    expected = apertium.round_trip(texts, [])

    def kill() -> None:
        time.sleep(0.15)
        worker = apertium._workers.get()
        os.killpg(worker.back._process.pid, 9)
        apertium._workers.put(worker)

    killer = threading.Thread(target=kill)
    killer.start()
    assert apertium.round_trip(texts, []) == expected
    killer.join()


@real
@pytest.mark.parametrize(
    "text",
    [
        "Foreign workers for nongovernmental organizations were thinking of leaving Iraq last week.",
        "A Palestinian man of 28 years was wounded when the soldiers opened fire near the village.",
    ],
)
def test_no_spanish_and_no_mark_is_left_in_a_view(apertium, text):
    (view,) = apertium.round_trip([text], [])
    assert view.isascii()
    assert not set(view) & set("*#@")
    assert not {"organizacionesnogubernamentales", "el", "la", "los"} & set(view.lower().split())


@real
@pytest.mark.parametrize("before", ["Rob said so.", "It is well known.", "They bore it.", "A lot of it."])
def test_a_view_does_not_depend_on_the_texts_before_it(before):
    """The tagger takes unknown words, which names are to it, for something else once it has met such readings."""
    text = "Mardy Fish won Tuesday in the first round, and Schilling scored as they led Auxerre under Kalou."
    alone = Apertium(workers=1).round_trip([text], [])
    assert Apertium(workers=1).round_trip([before, text], [])[1:] == alone


@real
def test_names_survive(apertium):
    (view,) = apertium.round_trip(
        ["Yesterday Bill Gates of Apple met President Bush and Tiger Woods in the garden."], []
    )
    assert all(name in view for name in ("Bill Gates", "Apple", "President Bush", "Tiger Woods"))
