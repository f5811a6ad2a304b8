"""The rules by which rows become splits, and the account kept of each one."""

from typing import Any

import pytest

from jointmatch.data.labels import UNLABELED
from jointmatch.data.splits import Rows, Splits, make_splits
from jointmatch.errors import DataError


def rows(*pairs: tuple[str, Any]) -> Rows:
    return Rows([text for text, _ in pairs], [label for _, label in pairs])


def splits_with(part: str, rows: Rows) -> Splits:
    given: dict[str, Any] = {part: rows}
    return make_splits(LABELED, **given)


def pool_of(*texts: str) -> Rows:
    return Rows(list(texts), [None] * len(texts))


LABELED = rows(("a one", "a"), ("a two", "a"), ("b one", "b"), ("b two", "b"))


def test_rows_without_a_label_join_the_pool_before_the_unlabelled_files_in_order():
    labeled = rows(("a one", "a"), ("no label", None), ("b one", "b"))
    splits = make_splits(labeled, [pool_of("first file"), pool_of("second file")])
    assert splits.labeled.texts == ["a one", "b one"]
    assert splits.labeled.labels == [0, 1]
    assert splits.pool.texts == ["no label", "first file", "second file"]
    assert splits.pool.labels == [UNLABELED] * 3
    assert splits.classes == ["a", "b"]


def test_labels_in_the_pool_are_kept_for_reports_and_unknown_ones_ignored():
    splits = make_splits(LABELED, [rows(("p one", "b"), ("p two", "something else"), ("p three", None))])
    assert splits.pool.labels == [1, UNLABELED, UNLABELED]


def test_clean_data_leaves_no_notes():
    splits = make_splits(LABELED, [pool_of("p one")], dev=rows(("d one", "a")))
    assert splits.notes == []
    assert not any(splits.counts.values())


@pytest.mark.parametrize("repeat", ["p one", "  p \t one\n"])
def test_repeated_unlabelled_texts_are_removed_and_counted(repeat):
    splits = make_splits(LABELED, [pool_of("p one", "p two"), pool_of(repeat)])
    assert splits.pool.texts == ["p one", "p two"]
    assert splits.counts["repeated_unlabelled"] == 1
    assert "1 repeated unlabelled text(s): left out." in splits.notes


@pytest.mark.parametrize("other", ["labeled", "dev", "test"])
def test_texts_of_labelled_dev_and_test_are_removed_from_the_pool_never_from_there(other):
    parts: dict[str, Any] = {"dev": rows(("d one", "a"), ("d one", "a")), "test": rows(("t one", "b"), ("t one", "b"))}
    shared = {"labeled": "a one", "dev": "d  one", "test": "t one "}[other]
    splits = make_splits(LABELED, [pool_of("p one", shared, shared)], **parts)
    assert splits.pool.texts == ["p one"]
    assert splits.counts["overlapping_unlabelled"] == 2
    assert splits.counts["repeated_unlabelled"] == 0
    assert splits.labeled.texts == LABELED.texts
    assert splits.dev is not None
    assert splits.test is not None
    assert (splits.dev.texts, splits.test.texts) == (["d one", "d one"], ["t one", "t one"])


@pytest.mark.parametrize("part", ["dev", "test"])
def test_a_dev_or_test_text_in_the_labelled_part_is_told_and_both_stay(part):
    splits = splits_with(part, rows(("a one", "a"), ("new", "b")))
    assert splits.counts[f"labelled_in_{part}"] == 1
    assert f"1 {part} text(s) also appear in the labelled part: that score is too kind." in splits.notes
    assert len(splits.labeled) == 4
    assert len(getattr(splits, part)) == 2


def test_test_texts_that_are_also_in_dev_are_told_once_with_their_count_and_both_stay():
    """Two rows of test are the dev text by another spacing."""
    dev, test = rows(("d one", "a"), ("d two", "b")), rows(("d  one", "a"), (" d one", "b"), ("t one", "b"))
    splits = make_splits(LABELED, dev=dev, test=test)
    told = (
        "2 test text(s) also appear in dev, which chooses the checkpoint: kept in both, so the test score is a little "
    )
    assert splits.notes == [told + "too kind."]
    assert splits.counts["dev_in_test"] == 2
    assert splits.dev is not None
    assert splits.test is not None
    assert (splits.dev.texts, splits.test.texts) == (dev.texts, test.texts)


@pytest.mark.parametrize("part", ["dev", "test"])
def test_labels_that_training_does_not_have_are_an_error_in_dev_and_test(part):
    with pytest.raises(
        DataError, match=f"^The {part} part has labels that training does not have, in 1 of 2 rows: 'c'"
    ):
        splits_with(part, rows(("x", "a"), ("y", "c")))


@pytest.mark.parametrize("part", ["dev", "test"])
def test_a_row_without_a_label_is_an_error_in_dev_and_test(part):
    with pytest.raises(DataError, match=rf"The {part} part has 1 row\(s\) without a label"):
        splits_with(part, rows(("x", "a"), ("y", None)))


@pytest.mark.parametrize(
    ("labeled", "said"),
    [(pool_of("x", "y"), "No row has a label"), (rows(("x", "a"), ("y", None)), "All labels are 'a'")],
)
def test_no_label_or_one_class_is_an_error(labeled, said):
    with pytest.raises(DataError, match=said):
        make_splits(labeled, [pool_of("p")])


def test_a_class_with_a_single_example_goes_on_and_is_named():
    splits = make_splits(rows(("a one", "a"), ("a two", "a"), ("b one", "b")))
    assert len(splits.labeled) == 3
    assert splits.counts["single_example_classes"] == 1
    assert "1 class(es) with a single labelled text (b)" in splits.notes[0]


def test_many_labels_each_on_one_text_are_doubted():
    """Numbers of tickets, say; a handful of classes with one example each is few-shot learning."""
    numbered = make_splits(rows(*((f"text {i}", f"no {i}") for i in range(20))))
    assert "Each of the 20 labelled texts has a label of its own (no 0, no 1" in numbered.notes[0]
    few = make_splits(rows(*((f"text {i}", f"no {i}") for i in range(19))))
    assert "19 class(es) with a single labelled text" in few.notes[0]


CONFLICT = rows(("a one", "a"), ("both", "b"), ("b one", "b"), (" both", "a"), ("both ", "b"))


def test_a_text_with_two_labels_is_dropped_counted_and_listed():
    splits = make_splits(CONFLICT, [pool_of("p")])
    assert splits.labeled.texts == ["a one", "b one"]
    assert splits.counts["conflicts"] == 1
    assert splits.conflicts == [{"text": "both", "labels": ["a", "b"]}]
    assert "1 labelled text(s) with two or more labels: left out (data.conflicts)." in splits.notes


def test_a_text_with_two_labels_is_kept_once_under_each_when_asked():
    splits = make_splits(CONFLICT, conflicts="keep")
    assert list(zip(splits.labeled.texts, splits.labeled.labels, strict=True)) == [
        ("a one", 0),
        ("both", 1),
        ("b one", 1),
        (" both", 0),
    ]
    assert splits.conflicts == [{"text": "both", "labels": ["a", "b"]}]
    assert any("kept under each label" in note for note in splits.notes)


def test_a_repeated_labelled_text_counts_once():
    splits = make_splits(rows(("a one", "a"), ("a  one", "a"), ("b one", "b")))
    assert splits.labeled.texts == ["a one", "b one"]
    assert splits.counts["repeated_labelled"] == 1
    assert splits.counts["conflicts"] == 0


def test_a_class_that_loses_all_its_texts_is_an_error_that_names_it():
    with pytest.raises(
        DataError, match=r"No labelled text is left for 'b': each .* another label.*data\.conflicts=keep"
    ):
        make_splits(rows(("a one", "a"), ("both", "a"), ("both", "b")))


def test_a_class_whose_texts_are_all_empty_is_told_so():
    with pytest.raises(DataError, match=r"No labelled text is left for 'b': all 2 are empty\."):
        make_splits(rows(("a one", "a"), ("", "b"), ("  ", "b")))


def test_columns_that_were_swapped_are_guessed_from_more_labels_than_texts():
    """The texts, three of each of two classes, stand where the labels should: six labels, two texts."""
    texts = [f"text {i}" for i in range(6)]
    with pytest.raises(DataError, match="6 different labels and 2 different texts: are --text-column and"):
        make_splits(rows(*zip(["a", "b"] * 3, texts, strict=True)))


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_empty_and_whitespace_texts_are_left_out_of_training_and_counted(blank):
    splits = make_splits(rows(*zip(LABELED.texts, LABELED.labels, strict=True), (blank, "a")), [pool_of("p", blank)])
    assert (splits.labeled.texts, splits.pool.texts) == (LABELED.texts, ["p"])
    assert (splits.counts["empty_labelled"], splits.counts["empty_unlabelled"]) == (1, 1)
    assert "1 empty labelled text(s): left out." in splits.notes
    assert "1 empty unlabelled text(s): left out." in splits.notes


@pytest.mark.parametrize("part", ["dev", "test"])
def test_empty_texts_of_dev_and_test_are_kept_and_told(part):
    splits = splits_with(part, rows(("  ", "a"), ("x", "b")))
    assert getattr(splits, part).texts == ["  ", "x"]
    assert f"1 empty text(s) in {part}: kept and scored." in splits.notes


@pytest.mark.parametrize(("common", "said"), [(20, True), (19, False)])
def test_labels_that_are_out_of_balance_are_told_of(common, said):
    given = rows(*((f"a {i}", "a") for i in range(common)), ("b one", "b"), ("b two", "b"))
    line = f"The labels are unbalanced: {common} of 'a', 2 of 'b'. Look at macro-F1 and the scores per class"
    assert any(note.startswith(line) for note in make_splits(given).notes) is said
