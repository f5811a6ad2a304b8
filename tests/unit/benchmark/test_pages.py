"""Pages: numbers between markers, and a check that they are what the results give."""

import pytest

from jointmatch.benchmark import Store, load
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.pages import Pages
from jointmatch.errors import InputError, OutputError
from tests.unit.benchmark.conftest import ROOT, keep, record_of

PAGE = """# A page

By hand.

<!-- results: table main_lite ag_news -->
anything
<!-- end of results -->

More by hand.
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    return tmp_path / "docs"


def test_what_stands_between_markers_is_written_and_the_rest_left_alone(folder, tmp_path):
    pages = Pages(folder, Store(tmp_path))
    assert pages.write() == [folder / "page.md"]
    text = (folder / "page.md").read_text()
    assert text.startswith("# A page\n\nBy hand.\n\n<!-- results: table main_lite ag_news -->\n\n**AG News**\n\n| test")
    assert text.endswith("<!-- end of results -->\n\nMore by hand.\n")
    assert "anything" not in text
    assert "IMDB" not in text
    assert pages.write() == []
    pages.check()


def test_the_progress_of_a_data_set_of_which_there_is_nothing_is_told_apart(folder, tmp_path):
    """Of main in lite: eleven cells of five seeds a data set, as the two baselines are one; one is finished."""
    store = Store(tmp_path)
    (folder / "page.md").write_text("<!-- results: status -->\n<!-- end of results -->\n")
    keep(store, load("main_lite"), "jointmatch", [0.9])
    Pages(folder, store).write()
    text = (folder / "page.md").read_text()
    assert "run main_lite` | 1 of 55, IMDB 0 of 55, Yahoo! Answers 0 of 55 |" in text
    assert "run delta_lite` | 0 of 35 |" in text
    assert "run speed` | 0 of 46 |" in text


def test_a_figure_of_several_data_sets_has_no_place_on_a_page(folder, tmp_path):
    (folder / "page.md").write_text("<!-- results: figure main course -->\n<!-- end of results -->\n")
    with pytest.raises(InputError, match="main has several data sets or numbers of labels"):
        Pages(folder, Store(tmp_path)).write()


def test_a_stale_page_fails_the_check_and_is_named(folder, tmp_path):
    store = Store(tmp_path)
    Pages(folder, store).write()
    keep(store, load("main_lite"), "jointmatch", [0.9])
    with pytest.raises(OutputError, match=r"page\.md.*benchmark pages .*docs --results "):
        Pages(folder, store).check()


def test_a_number_changed_by_hand_fails_the_check(folder, tmp_path):
    pages = Pages(folder, Store(tmp_path))
    pages.write()
    text = (folder / "page.md").read_text()
    (folder / "page.md").write_text(text.replace("87.68", "89.68"))
    with pytest.raises(OutputError, match=r"page\.md"):
        pages.check()


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("tabel main", "Did you mean 'table'"),
        ("table", "too few or too many words"),
        ("table mian", "Did you mean 'main'"),
        ("table main_lite imbd", "main_lite has no 'imbd' to show. Did you mean 'imdb'"),
        ("table race imdb", "race has no 'imdb' to show"),
        (" ", "page.md asks for ' '. Known: table"),
        ("figure figures_lite pies", "There is no figure 'pies'"),
    ],
)
def test_a_marker_that_cannot_be_filled_is_an_error(folder, tmp_path, block, message):
    (folder / "page.md").write_text(PAGE.replace("table main_lite ag_news", block))
    with pytest.raises(InputError, match=message):
        Pages(folder, Store(tmp_path)).write()


def test_a_marker_without_its_end_is_an_error(folder, tmp_path):
    (folder / "page.md").write_text(PAGE.replace("<!-- end of results -->", ""))
    with pytest.raises(InputError, match="without its"):
        Pages(folder, Store(tmp_path)).check()


def test_a_folder_without_pages_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no Markdown pages"):
        Pages(tmp_path, Store(tmp_path))


def test_a_figure_that_was_not_run_is_said_to_be_so(folder, tmp_path):
    (folder / "page.md").write_text(PAGE.replace("table main_lite ag_news", "figure figures course"))
    Pages(folder, Store(tmp_path)).write()
    assert "*Accuracy on dev over training: not run.*" in (folder / "page.md").read_text()


def test_a_figure_is_drawn_for_the_page_that_shows_it_and_a_stale_one_fails_the_check(folder, tmp_path):
    pytest.importorskip("matplotlib")
    (folder / "page.md").write_text(PAGE.replace("table main_lite ag_news", "figure figures_lite course"))
    store, experiment = Store(tmp_path), load("figures_lite")
    cell = cells_of(experiment, "jointmatch", "ag_news", 10)[0]
    store.write(cell.path, record_of(cell, 0.9, history={"step": [1, 2], "dev_accuracy": [0.5, 0.6]}))
    picture = folder / "figures" / "figures_lite-course.svg"
    assert Pages(folder, store).write() == [picture, folder / "page.md"]
    assert "![Accuracy on dev over training](figures/figures_lite-course.svg)" in (folder / "page.md").read_text()
    Pages(folder, store).check()
    store.write(cell.path, record_of(cell, 0.9, history={"step": [1, 2], "dev_accuracy": [0.5, 0.7]}))
    with pytest.raises(OutputError, match=r"figures_lite-course\.svg"):
        Pages(folder, store).check()


def test_the_pages_in_the_repository_are_what_the_results_give():
    assert Pages(ROOT / "docs" / "results", Store(ROOT / "benchmarks" / "results")).stale() == []


def test_the_overview_leads_to_every_page():
    folder = ROOT / "docs" / "results"
    index = (folder / "index.md").read_text(encoding="utf-8")
    for page in folder.glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index
