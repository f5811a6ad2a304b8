"""Records on disk: whole, small, readable, and merged by copying files."""

import json
import shutil

import pytest

from jointmatch.benchmark import Store
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.store import dumps
from jointmatch.errors import DataError, OutputError
from tests.unit.benchmark.conftest import keep, record_of

PLAIN = "data = { ag_news = 10 }\nseeds = 2\nsettings.training.mode = 'lite'\nvariants.a = {}"


def test_results_of_two_machines_merge_by_copying_files(written, tmp_path):
    experiment = written(PLAIN)
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    keep(one, experiment, "a", [0.8])
    second = cells_of(experiment, "a", "ag_news", 10)[1]
    two.write(second.path, record_of(second, 0.9))
    shutil.copytree(tmp_path / "two", tmp_path / "one", dirs_exist_ok=True)
    found = [one.find(cell) for cell in cells_of(experiment, "a", "ag_news", 10)]
    assert [r and r["scores"]["test"]["accuracy"] for r in found] == [0.8, 0.9]


def test_it_is_said_at_once_that_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot be written to .*file \(.*\)\. Name another folder with --results"):
        Store(tmp_path / "file").check_writable()
    Store(tmp_path / "new").check_writable()
    assert not list((tmp_path / "new").rglob("*.*"))


def test_what_a_killed_process_left_half_written_is_not_read(written, tmp_path):
    store, cell = Store(tmp_path), cells_of(written(PLAIN), "a", "ag_news", 10)[0]
    place = tmp_path / "cells" / cell.path
    place.parent.mkdir(parents=True)
    place.with_name(f".{place.name}.0123.tmp").write_text("{ half")
    assert store.find(cell) is None


@pytest.mark.parametrize(
    "content",
    ["{ half", "[]", '{"format": 99}', '{"format": 1}', '{"format": 1, "settings": {"algorithm": 3}, "scores": {}}'],
)
def test_a_file_that_is_no_record_is_named(written, tmp_path, content):
    store, cell = Store(tmp_path), cells_of(written(PLAIN), "a", "ag_news", 10)[0]
    store.write(cell.path, {})
    (tmp_path / "cells" / cell.path).write_text(content)
    with pytest.raises(DataError, match=r"seed-0.json"):
        store.find(cell)


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": None},
        {"scores": {"test": {"accuracy": "0.8"}}},
        {"scores": {"test": {"accuracy": float("nan")}}},
        {"backbone": 5},
    ],
)
def test_a_record_without_its_numbers_is_named(written, tmp_path, wrong):
    store, cell = Store(tmp_path), cells_of(written(PLAIN), "a", "ag_news", 10)[0]
    store.write(cell.path, record_of(cell, 0.8) | wrong)
    with pytest.raises(DataError, match=r"seed-0.json is not a whole record"):
        store.find(cell)


def test_a_record_of_another_seed_than_its_name_says_is_refused(written, tmp_path):
    store, cell = Store(tmp_path), cells_of(written(PLAIN), "a", "ag_news", 10)[0]
    store.write(cell.path, record_of(cell, 0.8) | {"seed": 7})
    with pytest.raises(DataError, match=r"seed-0.json is not a whole record"):
        store.find(cell)


def test_a_reference_without_its_score_is_refused(written, tmp_path):
    experiment = written('references = ["label_spreading"]\n' + PLAIN)
    store, cell = Store(tmp_path), cells_of(experiment, "label_spreading", "ag_news", 10)[0]
    whole = record_of(cell, 0.8)
    whole["baselines"]["label_spreading"] = {"test": {"accuracy": 0.5}}
    store.write(cell.path, whole)
    assert store.find(cell) is not None
    whole["baselines"]["label_spreading"] = {"test": {"accuracy": None}}
    store.write(cell.path, whole)
    with pytest.raises(DataError, match=r"seed-0.json is not a whole record"):
        store.find(cell)
    del whole["baselines"]["label_spreading"]
    store.write(cell.path, whole)
    with pytest.raises(DataError, match=r"seed-0.json is not a whole record"):
        store.find(cell)


def test_a_record_reads_back_as_it_was_and_has_a_line_for_each_thing():
    record = {
        "a": 1,
        "scores": {"dev": {"x": 0.5}, "test": {"x": 0.25}},
        "history": {"step": list(range(50))},
        "none": {},
    }
    text = dumps(record)
    assert json.loads(text) == record
    assert ' "scores": {\n  "dev": {"x": 0.5},\n  "test": {"x": 0.25}\n },' in text
    assert max(len(line) for line in text.splitlines()) > 100  # a list stays on its line
