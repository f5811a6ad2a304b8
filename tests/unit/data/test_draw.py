"""A draw of a few labels per class: stratified, by seed, nested, disjoint from the rest."""

from collections import Counter

import pytest

from jointmatch.data.draw import draw_rows, few_labels
from jointmatch.data.splits import Rows
from jointmatch.errors import DataError
from jointmatch.types import Label

LABELS: list[Label | None] = ["a", "b", None, "c"] * 25
SOURCE = Rows([f"text {i}" for i in range(100)], LABELS)


@pytest.mark.parametrize("per_class", [1, 5, 25])
def test_every_class_gets_as_many_as_asked_for_and_no_blank_row_is_drawn(per_class):
    drawn = draw_rows(LABELS, per_class, seed=0)
    assert Counter(LABELS[row] for row in drawn) == {"a": per_class, "b": per_class, "c": per_class}


def test_the_same_seed_draws_the_same_rows_and_another_seed_others():
    assert draw_rows(LABELS, 5, seed=1) == draw_rows(LABELS, 5, seed=1)
    assert set(draw_rows(LABELS, 5, seed=1)) != set(draw_rows(LABELS, 5, seed=2))


def test_a_draw_of_more_labels_contains_the_draw_of_fewer():
    assert set(draw_rows(LABELS, 3, seed=4)) < set(draw_rows(LABELS, 10, seed=4))


def test_the_drawn_rows_and_the_others_are_disjoint_and_together_everything():
    labeled, rest = few_labels(SOURCE, 5, seed=0)
    assert len(labeled) == 15
    assert set(labeled.texts).isdisjoint(rest.texts)
    assert sorted(labeled.texts + rest.texts) == sorted(SOURCE.texts)
    label_of = dict(zip(SOURCE.texts, SOURCE.labels, strict=True))
    assert [label_of[text] for text in labeled.texts] == labeled.labels


def test_too_few_labels_of_a_class_are_an_error_with_both_numbers():
    short = Rows(["x", "y", "z", "u"], ["a", "a", "b", None])
    with pytest.raises(DataError, match="2 labels per class were asked for, but 'b' has 1"):
        few_labels(short, 2, seed=0)
