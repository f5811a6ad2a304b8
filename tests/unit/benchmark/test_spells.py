"""How long an experiment took."""

import pytest

from jointmatch.benchmark import Store
from jointmatch.benchmark.formats import markdown
from jointmatch.benchmark.pages import Pages
from jointmatch.benchmark.spells import keep_spell, spell_table
from jointmatch.benchmark.suite import Options


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def keep(store: Store, seconds: float, **cells: int) -> None:
    keep_spell(store, "main", cells, seconds, Options(store.folder, jobs=4, together=5))


def ended(store: Store, minute: int, seconds: float, **cells: int) -> None:
    """A spell that ended at this minute of an hour."""
    record = {"format": 1, "device": "cpu", "cells": cells, "seconds": seconds}
    store.write_spell("main", str(minute), {**record, "finished": f"2026-01-01T10:{minute:02}:00+00:00"})


def test_spells_on_the_same_data_are_added_up(store):
    """30 and 30 cells in 90 + 150 s: 60 in 4.0 minutes; the other data set is a row of its own."""
    ended(store, 10, 90, ag_news=30)
    ended(store, 20, 150, ag_news=30)
    ended(store, 30, 66, imdb=5)
    assert spell_table(store, "main").rows == [["cpu", "ag_news", "60", "4.0", "2"], ["cpu", "imdb", "5", "1.1", "1"]]
    assert spell_table(store, "labels").rows == []


def test_time_in_which_several_ran_side_by_side_counts_once(store):
    """0 to 10, 4 to 8 (within it), 9 to 12 (2 more), and 20 to 21: 13 minutes, where the four add up to 18."""
    for minute, minutes in ((10, 10), (8, 4), (12, 3), (21, 1)):
        ended(store, minute, 60 * minutes, ag_news=5)
    assert spell_table(store, "main").rows == [["cpu", "ag_news", "20", "13.0", "4"]]


def test_a_page_shows_them(store, tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    page = folder / "main.md"
    page.write_text("<!-- results: time main -->\n<!-- end of results -->\n", encoding="utf-8")
    Pages(folder, store).write()
    assert "Not measured." in page.read_text(encoding="utf-8")
    keep(store, 90, ag_news=30)
    Pages(folder, store).write()
    assert markdown([spell_table(store, "main")]) in page.read_text(encoding="utf-8")
