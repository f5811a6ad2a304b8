"""From lists in Python to splits: -1 means "no label", and is told of where that may be a surprise."""

import pytest

from jointmatch.config import DataConfig
from jointmatch.data import splits_of_lists
from jointmatch.errors import DataError


def texts(count: int) -> list[str]:
    return [f"text number {i}" for i in range(count)]


def told(splits) -> list[str]:
    return [note for note in splits.notes if note.startswith("-1 was taken")]


@pytest.mark.parametrize("classes", [(0, 1), ("a", "b"), ("0", "1"), (0.0, 1.0)])
@pytest.mark.parametrize("missing", [None, "", -1, "-1"])
def test_none_blank_and_minus_one_mean_unlabelled(classes, missing):
    splits = splits_of_lists(["x", "y", "z", "zz"], [*classes, classes[1], missing], unlabeled=["p"])
    assert splits.classes == list(classes)
    assert splits.pool.texts == ["zz", "p"]


def test_minus_one_in_most_rows_goes_without_saying():
    assert told(splits_of_lists(texts(6), [0, 1, 0, -1, -1, -1])) == []


def test_minus_one_in_few_rows_is_told_of_with_the_count_and_what_to_do():
    (note,) = told(splits_of_lists(texts(6), [0, 1, 0, 1, -1, -1]))
    assert note.startswith('-1 was taken as "no label" in 2 row(s).')
    assert 'set unlabeled_value=""' in note


def test_minus_one_is_told_of_where_the_unlabelled_texts_are_given_apart():
    assert len(told(splits_of_lists(texts(6), [0, 1, 0, -1, -1, -1], unlabeled=["more"]))) == 1


@pytest.mark.parametrize("value", ["", "?"])
def test_minus_one_is_a_class_where_another_value_means_no_label(value):
    splits = splits_of_lists(texts(5), [-1, 1, -1, 1, value], config=DataConfig(unlabeled_value=value))
    assert (splits.classes, len(splits.pool), told(splits)) == ([-1, 1], 1, [])


@pytest.mark.parametrize(
    ("labels", "left"), [([-1, 1, -1, 1], r"one class \(1\)"), ([-1, -1], "no class"), (["-1", "+1"], "one class")]
)
def test_too_few_classes_because_of_minus_one_is_an_error_that_says_so(labels, left):
    with pytest.raises(DataError, match=rf'-1 was taken as "no label" in . row.s., which leaves {left}') as raised:
        splits_of_lists(texts(len(labels)), labels)
    assert 'set unlabeled_value=""' in str(raised.value)
