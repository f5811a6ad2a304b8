"""Labels that read like "no label", in Python."""

import pytest

from jointmatch.config import DataConfig
from jointmatch.data import load_splits, splits_of_lists
from jointmatch.data.markers import doubtful_marker
from jointmatch.errors import DataError

TEXTS = [f"text {i}" for i in range(7)]
LABELS = ["a", "a", "b", *["N/A"] * 4]


def test_lists_in_which_most_labels_read_like_none_are_refused_in_python_s_words():
    with pytest.raises(DataError, match=r"The labels: 4 of 7 rows have the label 'N/A'.* add unlabeled_value='N/A'\."):
        splits_of_lists(TEXTS, LABELS)


@pytest.mark.parametrize(("value", "classes"), [("N/A", ["a", "b"]), ("", ["N/A", "a", "b"])])
def test_either_can_be_said(value, classes):
    assert splits_of_lists(TEXTS, LABELS, config=DataConfig(unlabeled_value=value)).classes == classes


UNKNOWN = ["a", "a", "b", *["Unknown"] * 4]


def test_most_labels_being_unknown_is_a_class_with_a_warning_that_says_how_to_mean_none():
    """Four of seven rows are 57 %."""
    splits = splits_of_lists(TEXTS, UNKNOWN)
    assert splits.classes == ["Unknown", "a", "b"]
    assert splits.notes[0] == (
        "The labels: 4 of 7 rows (57 %) have the label 'Unknown', which was taken as a class. "
        "If it means that a text has no label, add unlabeled_value='Unknown'."
    )


@pytest.mark.parametrize(("value", "classes"), [("Unknown", ["a", "b"]), ("", ["Unknown", "a", "b"])])
def test_what_unknown_means_is_asked_once(value, classes):
    splits = splits_of_lists(TEXTS, UNKNOWN, config=DataConfig(unlabeled_value=value))
    assert splits.classes == classes
    assert not any("was taken as a class" in note for note in splits.notes)


@pytest.mark.parametrize(
    "labels",
    [["a", "a", "b", "b", *["unknown"] * 4], ["a", *["unknown"] * 6], ["a", "a", "b", *["unknown caller"] * 4]],
    ids=["half of the rows", "no second class", "another label"],
)
def test_other_shares_and_labels_are_not_doubted(labels):
    assert doubtful_marker(labels, None, "f.csv") == []


def test_on_the_command_line_the_option_is_named():
    table = {"text": TEXTS, "label": UNKNOWN}
    assert "add --set data.unlabeled_value=Unknown." in load_splits(table).notes[0]
