"""From files and data frames to splits."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from jointmatch.config import DataConfig
from jointmatch.data import Splits, load_splits
from jointmatch.data.load import as_table, as_text, as_texts, labeled_rows
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


@pytest.mark.parametrize("cell", [{"a": 1}, ["a", "b"], ("a",), b"a text", np.array(["a"])])
def test_a_text_that_is_neither_text_nor_number_is_refused_with_its_type(cell):
    with pytest.raises(DataError, match=rf"a text is .*{type(cell).__name__}\), wanted text or a number"):
        as_text(cell)


def test_a_text_that_cannot_be_one_is_named_by_its_row_and_column():
    message = r"Row 4 of the texts: a text is \['x'\] \(list\), wanted text or a number\. Make it one text"
    with pytest.raises(DataError, match=message):
        as_texts(["a", ["x"]], before=2)
    assert as_texts(["a", None, 3]) == ["a", "", "3"]


@pytest.mark.parametrize(("column", "what"), [("text", "text"), ("label", "label"), ("w", "text"), ("s", "text")])
@pytest.mark.parametrize("part", ["labeled", "pool"])
def test_a_cell_that_cannot_be_used_is_named_by_row_column_and_file(tmp_path, part, column, what):
    table: dict[str, list] = {**TABLE, "w": TABLE["text"], "s": TABLE["text"]}
    odd = {**table, column: [*table[column][:2], ["x"], table[column][3]]}
    labeled = write(tmp_path / "labeled.jsonl", odd if part == "labeled" else table)
    pool = write(tmp_path / "pool.jsonl", odd if part == "pool" else table)
    with pytest.raises(DataError) as raised:
        load_splits(labeled, [pool], config=DataConfig(weak_column="w", strong_column="s"))
    place = tmp_path / f"{part}.jsonl"
    assert str(raised.value).startswith(f"Row 3 of '{column}' in {place}: a {what} is ['x'] (list), wanted text or")


def test_a_long_object_is_cut_short_in_the_message():
    with pytest.raises(DataError) as raised:
        as_text(["x" * 1000])
    assert len(str(raised.value)) < 120


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
    frame = pd.DataFrame({"text": ["x", "y", "z"], "label": [10, 2, None]}, dtype=object)
    splits = load_splits(frame)
    assert splits.classes == [2, 10]
    assert [type(label) for label in splits.classes] == [int, int]
    assert splits.pool.texts == ["z"]


def test_whole_numbers_that_pandas_made_floats_beside_blanks_match_the_test_file_s(tmp_path):
    (tmp_path / "test.csv").write_text("text,label\np,1\nq,0\n")
    frame = pd.DataFrame({"text": ["x", "y", "z"], "label": [0, 1, None]})
    splits = load_splits(frame, test=tmp_path / "test.csv")
    assert splits.test is not None
    assert splits.test.labels == [1, 0]


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


POOL = {"text": ["p one", "p two"]}


def test_views_of_the_unlabelled_file_will_do_and_labelled_texts_stand_for_themselves():
    pool = {**POOL, "w": ["w1", "w2"]}
    splits = load_splits(TABLE, [pool], config=DataConfig(weak_column="w"))
    assert splits.pool.weak == ["w1", "w2"]
    assert splits.labeled.weak == TABLE["text"]
    assert (splits.labeled.strong, splits.notes) == (None, [])


@pytest.mark.parametrize("view", ["weak", "strong"])
def test_every_unlabelled_file_has_to_have_the_views(tmp_path, view):
    labeled = {**TABLE, "v": TABLE["text"]}
    config = DataConfig(weak_column="v") if view == "weak" else DataConfig(strong_column="v")
    files = [write(tmp_path / "with.jsonl", {**POOL, "v": ["v1", "v2"]}), write(tmp_path / "without.jsonl", POOL)]
    with pytest.raises(DataError, match=rf"without\.jsonl has no column 'v' \(--{view}-column\); it has 'text'"):
        load_splits(labeled, files, config=config)


@pytest.mark.parametrize("labels", [["a", "b", "b", "b"], ["a", None, "b", None]])
def test_a_labelled_file_that_is_alone_has_to_have_the_views(labels):
    with pytest.raises(DataError, match=r"no column 'w' \(--weak-column\)"):
        load_splits({**TABLE, "label": labels}, config=DataConfig(weak_column="w"))


def test_unlabelled_rows_of_a_labelled_file_bring_their_views():
    table = {**TABLE, "label": ["a", None, "b", None], "w": ["w1", "w2", "w3", "w4"]}
    assert load_splits(table, config=DataConfig(weak_column="w")).pool.weak == ["w2", "w4"]


@pytest.mark.parametrize("drawn", [None, 1])
def test_unlabelled_rows_of_a_labelled_file_without_the_views_are_told_of(drawn):
    labeled = TABLE if drawn else {**TABLE, "label": ["a", None, "b", None]}
    pool = {**POOL, "w": ["w1", "w2"]}
    splits = load_splits(labeled, [pool], config=DataConfig(weak_column="w"), labels_per_class=drawn)
    assert splits.notes[0].startswith("labelled data has no column 'w' (--weak-column): its 2 unlabelled text(s)")
    assert sorted(splits.pool.weak or []) == sorted([*(t for t in splits.pool.texts if t[0] != "p"), "w1", "w2"])


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


def test_the_rows_of_one_labelled_file_come_as_written(tmp_path):
    path = write(tmp_path / "rows.jsonl", {"text": ["x", None], "label": [1, None]})
    rows = labeled_rows(as_table(path), path, DataConfig(), pytest.fail)
    assert (rows.texts, rows.labels) == (["x", ""], [1, None])


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_minus_one_is_a_class_in_a_file(tmp_path, suffix):
    table: dict[str, list] = {"text": ["bad one", "so so", "good one", "open"], "label": [-1, 0, 1, ""]}
    path = tmp_path / f"rows.{suffix}"
    pd.DataFrame(table).to_csv(path, index=False) if suffix == "csv" else write(path, table)
    splits = load_splits(path)
    assert list(map(str, splits.classes)) == ["-1", "0", "1"]
    assert (len(splits.labeled), splits.pool.texts) == (3, ["open"])
    assert not any("-1 is" in note for note in splits.notes)


def test_minus_one_in_a_file_means_no_label_where_the_user_says_so(tmp_path):
    (tmp_path / "rows.csv").write_text("text,label\na one,0\nb one,1\nopen,-1\n")
    splits = load_splits(tmp_path / "rows.csv", config=DataConfig(unlabeled_value=-1))
    assert (splits.classes, splits.pool.texts) == (["0", "1"], ["open"])


@pytest.mark.parametrize("marker", [-1, "-1", "unlabeled", "N/A"])
def test_a_file_in_which_most_labels_read_like_none_is_refused(marker):
    table = {"text": ["a one", "b one", "p one", "p two", "p three"], "label": ["a", "b", marker, marker, marker]}
    with pytest.raises(DataError, match="3 of 5 rows have the label") as caught:
        load_splits(table)
    assert f"add --set data.unlabeled_value={marker}." in str(caught.value)
    assert str(caught.value).endswith("If it is a class, add --set data.unlabeled_value=.")
    assert load_splits(table, config=DataConfig(unlabeled_value="")).classes == sorted(["a", "b", marker], key=str)
    splits = load_splits(table, config=DataConfig(unlabeled_value=marker))
    assert (splits.classes, len(splits.pool)) == (["a", "b"], 3)


@pytest.mark.parametrize(
    "labels",
    [[1, -1, -1, -1], ["a", "b", "?", "?"], ["a", "b", "other", "other", "other"]],
    ids=["one other class", "half of the rows", "an ordinary word"],
)
def test_labels_that_may_well_be_a_class_are_not_refused(labels):
    splits = load_splits({"text": [f"text {i}" for i in range(len(labels))], "label": labels})
    assert len(splits.classes) == len(set(labels))


HEADERLESS = "the printer is on fire again,it\nwhere is my parcel now,post\nmy screen stays black,it\n"


def test_a_first_line_that_reads_like_a_text_is_pointed_out(tmp_path):
    (tmp_path / "rows.csv").write_text(HEADERLESS + "it never came at all,post\n")
    (tmp_path / "pool.csv").write_text("a first text of the pool\na second text of the pool\n")
    splits = load_splits(tmp_path / "rows.csv", [tmp_path / "pool.csv"])
    doubts = [note for note in splits.notes if "the first line was taken as the column's name" in note]
    assert ["rows.csv" in doubts[0], "pool.csv" in doubts[1]] == [True, True]
    assert "('the printer is on fire again')" in doubts[0]


def test_a_first_line_that_reads_like_a_text_is_told_by_whoever_reads_one_file(tmp_path):
    (tmp_path / "rows.csv").write_text(HEADERLESS)
    heard: list[str] = []
    labeled_rows(as_table(tmp_path / "rows.csv"), tmp_path / "rows.csv", DataConfig(), heard.append)
    assert len(heard) == 1


def test_white_space_around_a_label_in_a_file_is_not_part_of_it():
    """In lists from Python it is: there it is on purpose."""
    table = {"text": ["v", "w", "x", "y"], "label": ["a", "a ", " b", "b"]}
    splits = load_splits(table, dev={"text": ["z"], "label": ["b "]})
    assert splits.classes == ["a", "b"]
    assert splits.dev is not None
    assert splits.dev.labels == [1]


def test_a_short_first_line_that_is_no_header_is_pointed_out_in_every_file(tmp_path):
    files = [tmp_path / "labeled.csv", tmp_path / "dev.csv"]
    for file in files:
        file.write_text(f"{file.stem} film,positive\nthe plot is bad,negative\nthe cast is fine,positive\n")
    notes = load_splits(files[0], dev=files[1]).notes
    for file in files:
        told = f"{file}: the first line ('{file.stem} film', 'positive') was taken as names of columns"
        assert sum(note.startswith(told) for note in notes) == 1
