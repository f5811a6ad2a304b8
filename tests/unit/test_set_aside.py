"""Cells that are set aside: found again under the names they are given, and gone where they were if so asked."""

import pytest

from benchmarks import set_aside
from jointmatch.benchmark import Results, Store, load
from jointmatch.benchmark.cell import cells_of
from tests.unit.benchmark.conftest import record_of

TEXT = """
data = { ag_news = 10, imdb = 10 }
seeds = 2
settings.training = { mode = "lite", steps = 20 }
variants.a.algorithm.tau = 0.8
variants.b.algorithm.tau = 0.9
"""


@pytest.fixture
def search(tmp_path):
    """An experiment with three finished cells of four on one of its two sets."""
    file = tmp_path / "search.toml"
    file.write_text(TEXT)
    store = Store(tmp_path / "here")
    for row, seeds in (("a", 2), ("b", 1)):
        for cell in cells_of(load(str(file)), row, "imdb", 10)[:seeds]:
            store.write(cell.path, {**record_of(cell, 0.5 + cell.seed / 10), "history": {"step": [20]}})
    return file


@pytest.mark.parametrize("remove", [False, True])
def test_they_are_found_by_their_names(search, tmp_path, remove):
    words = [str(search), "--from", str(tmp_path / "here"), "--to", str(tmp_path / "there"), "--as", "before"]
    (file,) = set_aside.main([*words, *(["--remove"] if remove else [])])
    assert file == tmp_path / "there" / "earlier" / "before-imdb.json"
    runs = Store(tmp_path / "there").earlier("before", "a", "imdb", 10)
    assert [(run["seed"], run["scores"]["dev"]["accuracy"]) for run in runs] == [(0, 0.5), (1, 0.6)]
    assert len(Store(tmp_path / "there").earlier("before", "b", "imdb", 10)) == 1
    assert runs[0]["history"] == {"step": [20]}
    shown = Results(load(str(search)), Store(tmp_path / "there")).entries["a", "imdb", 10]
    assert not shown.values()  # of another name
    set_aside.main([*words[:-2], "--as", "search"])
    shown = Results(load(str(search)), Store(tmp_path / "there")).entries["a", "imdb", 10]
    assert shown.values(part="dev") == ({} if remove else {0: 0.5, 1: 0.6})
    assert runs[0]["machine"]["device"]
    assert len(list((tmp_path / "here" / "cells").rglob("*.json"))) == (0 if remove else 3)


def test_only_some_rows(search, tmp_path):
    words = [str(search), "--from", str(tmp_path / "here"), "--to", str(tmp_path / "there"), "--remove", "--only", "b*"]
    set_aside.main(words)
    there = Store(tmp_path / "there")
    assert [len(there.earlier("search", row, "imdb", 10)) for row in "ab"] == [0, 1]
    assert len(list((tmp_path / "here" / "cells").rglob("*.json"))) == 2


def test_every_run_keeps_its_machine(search, tmp_path):
    store, cell = Store(tmp_path / "here"), cells_of(load(str(search)), "b", "imdb", 10)[1]
    store.write(cell.path, {**record_of(cell, 0.5), "hardware": {"device": "other"}})
    (file,) = set_aside.main([str(search), "--from", str(tmp_path / "here"), "--to", str(tmp_path / "there")])
    runs = Store(tmp_path / "there").earlier("search", "b", "imdb", 10)
    assert [run["machine"]["device"] == "other" for run in runs] == [False, True]
    assert file.read_text().count('"other"') == 1  # what the others share is said once


def test_what_is_there_already_is_refused(search, tmp_path):
    words = [str(search), "--from", str(tmp_path / "here"), "--to", str(tmp_path / "there")]
    set_aside.main(words)
    with pytest.raises(SystemExit, match=r"search-imdb\.json is there already"):
        set_aside.main([*words, "--remove"])
    assert len(list((tmp_path / "here" / "cells").rglob("*.json"))) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "Unknown experiment 'nosuch'"),
        (["main", "--dataset", "imbd"], "main has no data set 'imbd'. Did you mean"),
        (["main", "--only", "fixmach"], "main has no variant 'fixmach'. Did you mean 'fixmatch'"),
    ],
)
def test_names_that_are_not_known_are_said(words, said):
    with pytest.raises(SystemExit, match=said):
        set_aside.main(words)


def test_nothing_finished_leaves_no_file(search, tmp_path):
    assert set_aside.main([str(search), "--from", str(tmp_path / "empty"), "--to", str(tmp_path / "there")]) == []
    assert not (tmp_path / "there").exists()
