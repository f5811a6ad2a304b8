"""Labels stay as the user wrote them; only what means "no label" is replaced."""

import numpy as np
import pandas as pd
import pytest

from jointmatch.data.labels import UNLABELED, clean, encode, find_classes, plain, without_minus_one
from jointmatch.errors import DataError


@pytest.mark.parametrize(
    "blank", [None, "", "  \t", "\u200b", float("nan"), np.nan, np.float64("nan"), pd.NA, pd.NaT], ids=lambda v: repr(v)
)
def test_a_blank_label_means_an_unlabelled_row(blank):
    assert clean(["spam", blank, "ham"]) == ["spam", None, "ham"]


def test_white_space_around_a_label_is_nobody_s_intention():
    assert clean([" spam ", "spam", "spam\n"]) == ["spam"] * 3


@pytest.mark.parametrize("label", ["spam", "N/A", "0", 0, 7, -2, 0.5, True, False])
def test_a_label_stays_as_it_was_written_and_of_its_type(label):
    (kept,) = clean([label])
    assert kept == label
    assert type(kept) is type(label)


@pytest.mark.parametrize("values", [[-1, 0, 1], ["-1", "0", "1"], ["good", "-1"], [0.5, -1]])
def test_minus_one_is_a_class_as_any_other(values):
    assert clean(values) == values


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1, -1], [0, 1, None]),
        (["0", "1", " -1"], ["0", "1", None]),
        ([1, -1, None], [1, None, None]),
        ([-2, -1], [-2, None]),
        ([1.0, -1.0], [1.0, None]),
        (["good", "-1"], ["good", None]),
        (["good", -1], ["good", None]),
        ([True, -1], [True, None]),
        ([0.5, -1], [0.5, -1]),
    ],
)
def test_from_python_minus_one_means_no_label_except_among_fractions(values, expected):
    assert without_minus_one(values) == expected


@pytest.mark.parametrize(("value", "written"), [(-1, "-1"), (99, " 99"), ("-1", -1)])
def test_the_value_that_means_no_label_is_known_by_its_spelling(value, written):
    """A CSV has text where the setting has a number."""
    assert clean(["0", written, "1"], unlabeled_value=value) == ["0", None, "1"]


@pytest.mark.parametrize(("value", "labels"), [("?", ["a", "?", "b"]), (99, [1, 99, 2])])
def test_a_value_of_the_user_s_choice_means_no_label_too(value, labels):
    assert clean(labels, unlabeled_value=value) == [labels[0], None, labels[2]]


def test_numpy_scalars_become_python_s_own():
    assert [type(plain(v)) for v in (np.int64(1), np.float32(0.5), np.bool_(True))] == [int, float, bool]
    assert plain("text") == "text"


@pytest.mark.parametrize("label", [["a", "b"], {"a": 1}, b"spam"])
def test_a_label_that_is_neither_text_nor_number_is_refused_with_its_type(label):
    message = f"Row 2 of the labels: a label is .*{type(label).__name__}.*wanted text or a number. Give the row one"
    with pytest.raises(DataError, match=message):
        clean(["a", label])


def test_a_long_label_that_is_no_label_is_shown_by_its_beginning():
    with pytest.raises(DataError) as raised:
        clean([["x" * 1000]])
    assert len(str(raised.value)) < 180


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["b", None, "a", "b"], ["a", "b"]),
        ([10, 9, None, 2], [2, 9, 10]),
        (["10", "9"], ["10", "9"]),
        (["x", 3, 1.5], [1.5, 3, "x"]),
        ([True, False], [False, True]),
    ],
)
def test_classes_are_the_distinct_labels_numbers_by_value_then_text_by_spelling(labels, classes):
    assert find_classes(labels) == classes


@pytest.mark.parametrize("labels", [[], [None, None]])
def test_no_labelled_row_is_an_error_that_names_the_option(labels):
    with pytest.raises(DataError, match=r"No row has a label.*--label-column"):
        find_classes(labels)


def test_one_class_only_is_an_error_that_names_it():
    with pytest.raises(DataError, match=r"All labels are 'spam'\. Wanted at least two classes"):
        find_classes(["spam", None, "spam"])


def test_class_ids_follow_the_order_of_the_classes():
    assert encode(["b", None, "a"], ["a", "b"], "dev") == [1, UNLABELED, 0]


def test_a_csv_s_text_matches_the_number_that_training_knew():
    assert encode(["2", "1.5"], [1.5, 2], "dev") == [1, 0]


def test_text_wins_over_the_number_it_looks_like():
    assert encode(["1", 1], [1, "1"], "dev") == [1, 0]


def test_a_number_matches_the_csv_s_text_that_training_knew():
    assert encode([2, 1], ["1", "2"], "dev") == [1, 0]


@pytest.mark.parametrize("classes", [[0, 1], [0.0, 1.0], ["0", "1"], ["0.0", "1.0"]], ids=repr)
@pytest.mark.parametrize("labels", [[1, 0], [1.0, 0.0], ["1", "0"], ["1.0", "0.0 "]], ids=repr)
def test_a_whole_number_is_the_same_class_with_decimals_as_pandas_writes_it_beside_blanks(labels, classes):
    assert encode(labels, classes, "dev") == [1, 0]


def test_whole_numbers_with_decimals_are_classes_of_their_own_where_training_had_both():
    assert encode(["2", "2.0", 2.0], ["2", "2.0"], "dev") == [0, 1, 1]
    with pytest.raises(DataError, match=r"labels that training does not have, in 1 of 1 rows: '2\.00'"):
        encode(["2.00"], ["2", "2.0"], "dev")


def test_other_decimals_are_no_whole_number():
    with pytest.raises(DataError, match=r"in 2 of 2 rows: '1\.05', 'v1\.0'"):
        encode(["1.05", "v1.0"], [1, 15, "v1"], "dev")


@pytest.mark.parametrize("where", ["dev", "test"])
def test_labels_unknown_to_training_are_listed_with_the_nearest_and_the_known(where):
    with pytest.raises(DataError) as raised:
        encode(["spam", "hams", "eggs"], ["ham", "spam"], where)
    message = str(raised.value)
    assert message.startswith(f"{where} has labels that training does not have, in 2 of 3 rows: 'hams', 'eggs'.")
    assert "Did you mean 'ham'?" in message
    assert "Known: 'ham', 'spam'." in message


def test_many_unknown_labels_are_cut_short_in_the_message():
    with pytest.raises(DataError) as raised:
        encode([f"new{i}" for i in range(9)], list(range(150)), "test")
    assert "'new4', ..." in str(raised.value)
    assert "new5" not in str(raised.value)
    assert "19, ..." in str(raised.value)


def test_white_space_around_a_label_makes_no_other_class_unless_training_had_both():
    assert encode([" spam", "ham"], ["ham", "spam"], "dev") == [1, 0]
    assert encode(["spam"], ["ham", "spam "], "dev") == [1]
    assert encode(["spam", "spam "], ["spam", "spam "], "dev") == [0, 1]


def test_a_text_taken_for_a_label_is_shown_by_its_beginning():
    with pytest.raises(DataError) as raised:
        encode(["a", "a long message " * 20], ["a", "b"], "evaluation")
    assert "'a long message a long message" in str(raised.value)
    assert len(str(raised.value)) < 250
