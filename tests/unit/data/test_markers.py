"""Labels that read like "no label", in Python."""

import pytest

from jointmatch.config import DataConfig
from jointmatch.data import splits_of_lists
from jointmatch.errors import DataError

TEXTS = [f"text {i}" for i in range(7)]
LABELS = ["a", "a", "b", *["N/A"] * 4]


def test_lists_in_which_most_labels_read_like_none_are_refused_in_python_s_words():
    with pytest.raises(DataError, match=r"The labels: 4 of 7 rows have the label 'N/A'.* add unlabeled_value='N/A'\."):
        splits_of_lists(TEXTS, LABELS)


@pytest.mark.parametrize(("value", "classes"), [("N/A", ["a", "b"]), ("", ["N/A", "a", "b"])])
def test_either_can_be_said(value, classes):
    assert splits_of_lists(TEXTS, LABELS, config=DataConfig(unlabeled_value=value)).classes == classes
