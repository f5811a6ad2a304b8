"""Figures: the numbers they show, the files they are."""

import sys
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from jointmatch.benchmark import Results, Store
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.courses import curves
from jointmatch.benchmark.drawing import digest
from jointmatch.benchmark.drawing import draw as write
from jointmatch.benchmark.grid import Grid
from jointmatch.errors import MissingExtraError, OutputError
from tests.unit.benchmark.conftest import record_of

TEXT = """
data = { ag_news = 10 }
seeds = 2
settings.training.mode = "lite"
variants.ours.title = "Ours"
variants.theirs.algorithm.name = "fixmatch"
"""


def draw(shown, kind, path):
    write(shown, Grid.pictures[kind].painter, path)


@pytest.fixture
def results(written, tmp_path):
    store, experiment = Store(tmp_path), written(TEXT)
    for row in experiment.variants:
        for cell in cells_of(experiment, row, "ag_news", 10):
            history = {
                "step": [10, 20, 30][: 3 - cell.seed],  # the second seed stopped early
                "dev_accuracy": [0.5, 0.6, 0.7][: 3 - cell.seed],
                "pseudo_label_share": [0.0, 0.6, 0.7][: 3 - cell.seed],
                "pseudo_label_accuracy": [None, 0.8, 0.7][: 3 - cell.seed],
                "pseudo_label_share_per_class": [[0.0, 0.0], [0.3, 0.3], [0.4, 0.3]][: 3 - cell.seed],
            }
            store.write(cell.path, record_of(cell, 0.7, history=history))
    return Results(experiment, store)


def test_a_figure_shows_every_method_up_to_the_last_step_all_seeds_reached(results):
    first, second = curves(results, "course")
    assert (first["title"], second["title"]) == ("Ours", "theirs")
    assert first["steps"] == [10, 20]
    assert first["dev_accuracy"] == [[0.5, 0.6], [0.5, 0.6]]


def test_a_seed_that_was_looked_at_before_its_first_step_is_compared_where_the_others_were(written, tmp_path):
    store, experiment = Store(tmp_path), written(TEXT)
    first, second = cells_of(experiment, "ours", "ag_news", 10)
    looked: dict[str, list[Any]] = {
        "step": [0, 10, 20],
        "dev_accuracy": [0.4, 0.5, 0.6],
        "pseudo_label_share_per_class": [None, [1], [2]],
    }
    for cell, start in ((first, 0), (second, 1)):
        history = {name: values[start:] for name, values in looked.items()}
        store.write(cell.path, record_of(cell, 0.7, history=history))
    (course,), (classes,) = (curves(Results(experiment, store), kind) for kind in ("course", "classes"))
    assert (course["steps"], course["dev_accuracy"]) == ([10, 20], [[0.5, 0.6], [0.5, 0.6]])
    store.write(second.path, record_of(second, 0.7, history=looked))
    (course,), (classes,) = (curves(Results(experiment, store), kind) for kind in ("course", "classes"))
    assert course["steps"] == [0, 10, 20]
    assert (classes["steps"], classes["pseudo_label_share_per_class"][0]) == ([10, 20], [[1], [2]])


def test_nothing_is_shown_of_runs_without_a_course(written, tmp_path):
    store, experiment = Store(tmp_path), written(TEXT)
    cell = cells_of(experiment, "ours", "ag_news", 10)[0]
    store.write(cell.path, record_of(cell, 0.7))
    assert curves(Results(experiment, store), "course") == []


@pytest.mark.parametrize("kind", sorted(Grid.pictures))
def test_a_figure_is_a_picture_that_names_the_digest_of_its_numbers(results, tmp_path, kind):
    pytest.importorskip("matplotlib")
    shown = curves(results, kind)
    draw(shown, kind, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    ET.fromstring(text)
    assert digest(shown, Grid.pictures[kind].painter) in text
    assert "Ours" in text
    draw(shown, kind, tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text(encoding="utf-8") == text
    draw(shown, kind, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_other_numbers_have_another_digest(results):
    shown = curves(results, "course")
    painter, other = Grid.pictures["course"].painter, Grid.pictures["classes"].painter
    before = digest(shown, painter)
    assert digest(shown, other) != before  # drawn another way
    shown[0]["dev_accuracy"][0][0] = 0.51
    assert digest(shown, painter) != before


def test_a_figure_that_cannot_be_written_is_said_to_be_so(results, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"a\.svg cannot be written \(.*\)"):
        draw(curves(results, "course"), "course", tmp_path / "file" / "a.svg")


def test_without_matplotlib_the_install_line_is_said(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"jointmatch\[figures\]"):
        draw(curves(results, "course"), "course", tmp_path / "a.svg")
