"""From files, lists and data frames to splits."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from jointmatch.config import DataConfig
from jointmatch.data import Splits, load_splits, splits_of_lists
from jointmatch.data.load import as_table, as_text, read_rows
from jointmatch.errors import DataError

TABLE = {"text": ["a one", "a two", "b one", "b two"], "label": ["a", "a", "b", "b"]}


def load_part(part: str, source: Any, labeled: Any = TABLE, config: DataConfig | None = None) -> Splits:
    dev, test = (source if part == name else None for name in ("dev", "test"))
    return load_splits(labeled, dev=dev, test=test, config=config)


def write(path, table: dict[str, list]):
    path.write_text(
        "\n".join(json.dumps(dict(zip(table, row, strict=True))) for row in zip(*table.values(), strict=True))
    )
    return path


@pytest.mark.parametrize(
    ("cell", "text"),
    [(None, ""), (float("nan"), ""), (np.float64("nan"), ""), ("as is ", "as is "), (12, "12"), (1.5, "1.5")],
)
def test_a_cell_becomes_text_and_what_is_missing_the_empty_text(cell, text):
    assert as_text(cell) == text


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT])
def test_pandas_own_missing_values_become_the_empty_text(missing):
    assert as_text(missing) == ""


@pytest.mark.parametrize("kind", ["dict", "frame", "file", "path as text"])
def test_every_kind_of_source_gives_the_same_splits(tmp_path, kind):
    path = write(tmp_path / "rows.jsonl", TABLE)
    source = {"dict": TABLE, "frame": pd.DataFrame(TABLE), "file": path, "path as text": str(path)}[kind]
    splits = load_splits(source)
    assert splits.labeled.texts == TABLE["text"]
    assert splits.labeled.labels == [0, 0, 1, 1]
    assert splits.classes == ["a", "b"]
    assert splits.text_column == "text"


@pytest.mark.parametrize("source", [["a text"], 3, None])
def test_any_other_source_is_refused_by_its_type(source):
    with pytest.raises(DataError, match=f"Got {type(source).__name__} as data"):
        as_table(source)


def test_the_labels_of_a_frame_keep_their_type():
    frame = pd.DataFrame({"text": ["x", "y", "z"], "label": [10, 2, -1]})
    splits = load_splits(frame)
    assert splits.classes == [2, 10]
    assert [type(label) for label in splits.classes] == [int, int]
    assert splits.pool.texts == ["z"]


def test_columns_found_in_the_labelled_source_are_looked_for_in_the_others():
    labeled = {"anliegen": ["a b c", "d e f"], "abteilung": ["x", "y"]}
    other = {"text": ["not this one"], "anliegen": ["g h i"], "abteilung": ["y"]}
    config = DataConfig(label_column="abteilung")
    splits = load_splits(labeled, [other], dev=other, config=config)
    assert splits.pool.texts == []
    assert splits.counts["overlapping_unlabelled"] == 1
    assert splits.dev is not None
    assert (splits.dev.texts, splits.dev.labels) == (["g h i"], [1])


def test_an_unlabelled_file_needs_no_label_column_and_may_name_its_text_otherwise():
    splits = load_splits(TABLE, [{"body": ["p one"]}, {"text": ["p two"], "label": [None]}])
    assert splits.pool.texts == ["p one", "p two"]


@pytest.mark.parametrize("part", ["dev", "test"])
def test_dev_and_test_need_a_label_column(part):
    with pytest.raises(DataError, match=f"{part} data: no label column found"):
        load_part(part, {"text": ["x"]})


def test_the_label_column_the_user_named_is_the_label():
    source = {"anliegen": ["a few words", "some more words"], "abteilung": ["it desk", "the shop"]}
    splits = load_splits(source, config=DataConfig(label_column="abteilung"))
    assert splits.classes == ["it desk", "the shop"]


def test_the_label_column_the_user_named_is_the_label_even_under_a_usual_text_name():
    source = {"message": ["spam", "ham"], "body": ["buy it now please", "see you there"]}
    splits = load_splits(source, config=DataConfig(label_column="message"))
    assert splits.classes == ["ham", "spam"]


def test_the_user_s_views_are_read_and_a_blank_one_is_the_text():
    table = {**TABLE, "w": ["w1", "", None, "w4"], "s": ["s1", "s2", "s3", "s4"]}
    splits = load_splits(table, config=DataConfig(weak_column="w", strong_column="s"))
    assert splits.labeled.weak == ["w1", "a two", "b one", "w4"]
    assert splits.labeled.strong == ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize("part", ["dev", "test"])
def test_dev_and_test_need_no_views(part):
    splits = load_part(part, TABLE, {**TABLE, "w": TABLE["text"]}, DataConfig(weak_column="w"))
    assert len(getattr(splits, part)) == 4


def test_few_labels_are_drawn_and_the_other_rows_join_the_pool_with_their_labels_for_reports():
    splits = load_splits(TABLE, labels_per_class=1, seed=3)
    assert sorted(splits.labeled.labels) == [0, 1]
    assert sorted(splits.labeled.texts + splits.pool.texts) == sorted(TABLE["text"])
    assert sorted(splits.pool.labels) == [0, 1]


def test_a_draw_gives_as_many_labels_as_asked_for_whatever_is_repeated():
    table = {"text": ["same"] * 3 + ["a two", "b one", "b two"], "label": ["a"] * 4 + ["b"] * 2}
    drawn = [load_splits(table, labels_per_class=2, seed=seed).labeled.labels for seed in range(6)]
    assert [sorted(labels) for labels in drawn] == [[0, 0, 1, 1]] * 6


def test_a_draw_and_the_dev_part_are_disjoint():
    dev = {"text": ["a one", "b one"], "label": ["a", "b"]}
    splits = [load_splits(TABLE, dev=dev, labels_per_class=1, seed=seed) for seed in range(6)]
    assert [s.counts["labelled_in_dev"] for s in splits] == [0] * 6


def test_conflicts_and_the_unlabelled_value_follow_the_config():
    table = {"text": ["both", "both", "a one", "b one", "open"], "label": ["a", "b", "a", "b", "?"]}
    splits = load_splits(table, config=DataConfig(conflicts="keep", unlabeled_value="?"))
    assert (len(splits.labeled), splits.pool.texts) == (4, ["open"])


def test_a_file_is_named_in_its_own_faults(tmp_path):
    path = write(tmp_path / "rows.jsonl", {"id": [1, 2], "n": [3, 4]})
    with pytest.raises(DataError, match=r"rows\.jsonl: no text column found among 'id', 'n'"):
        load_splits(path)


def test_the_encoding_of_the_config_reads_every_file(tmp_path):
    for name in ("labeled", "pool"):
        (tmp_path / f"{name}.csv").write_bytes(f"text,label\n{name} é,a\n{name} ü,b\n".encode("cp1252"))
    splits = load_splits(tmp_path / "labeled.csv", [tmp_path / "pool.csv"], config=DataConfig(encoding="cp1252"))
    assert splits.labeled.texts == ["labeled é", "labeled ü"]
    assert splits.pool.texts == ["pool é", "pool ü"]


@pytest.mark.parametrize("missing", [None, "", -1])
def test_lists_take_none_blank_and_minus_one_as_unlabelled(missing):
    splits = splits_of_lists(["x", "y", "z", "zz"], [0, 1, 1, missing], unlabeled=["p"])
    assert splits.classes == [0, 1]
    assert splits.pool.texts == ["zz", "p"]


def test_the_rows_of_one_labelled_file_come_as_written(tmp_path):
    rows = read_rows(write(tmp_path / "rows.jsonl", {"text": ["x", None], "label": [1, None]}), DataConfig())
    assert (rows.texts, rows.labels) == (["x", ""], [1, None])
