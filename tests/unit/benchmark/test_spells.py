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


def test_spells_on_the_same_data_are_added_up(store):
    """30 and 30 cells in 90 + 150 s: 60 in 4.0 minutes; the other data set is a row of its own."""
    keep(store, 90, ag_news=30)
    keep(store, 150, ag_news=30)
    keep(store, 66, imdb=5)
    assert spell_table(store, "main").rows == [["cpu", "ag_news", "60", "4.0", "2"], ["cpu", "imdb", "5", "1.1", "1"]]
    assert spell_table(store, "labels").rows == []


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
