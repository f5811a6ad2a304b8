"""A text of 5 MB is cut and told, and a row's views travel with it."""

from typing import Any

import pytest

from jointmatch.data.splits import MAX_CHARACTERS, Rows, make_splits, same_text

HUGE = "word " * 1_000_000
LABELED = Rows(["a one", "a two", "b one", "b two"], ["a", "a", "b", "b"])


@pytest.mark.parametrize("part", ["labeled", "unlabeled", "dev", "test"])
def test_a_text_of_5_mb_is_cut_and_told(part):
    parts: dict[str, Any] = {
        "labeled": Rows([*LABELED.texts, HUGE], [*LABELED.labels, "a"]) if part == "labeled" else LABELED,
        "unlabeled": [Rows([HUGE], [None])] if part == "unlabeled" else [],
        "dev": Rows([HUGE], ["a"]) if part == "dev" else None,
        "test": Rows([HUGE], ["a"]) if part == "test" else None,
    }
    splits = make_splits(**parts)
    kept = getattr(splits, "pool" if part == "unlabeled" else part)
    assert max(map(len, kept.texts)) == MAX_CHARACTERS
    assert splits.counts["cut"] == 1
    assert any("over 50,000 characters: cut there." in note for note in splits.notes)


def test_a_text_at_the_limit_is_not_cut():
    splits = make_splits(LABELED, [Rows(["x" * MAX_CHARACTERS], [None])])
    assert splits.counts["cut"] == 0
    assert splits.notes == []


@pytest.mark.parametrize("view", ["weak", "strong"])
def test_a_view_of_5_mb_is_cut_too(view):
    splits = make_splits(LABELED, [Rows(["short"], [None], **{view: [HUGE]})])  # type: ignore[arg-type]
    assert len(getattr(splits.pool, view)[0]) == MAX_CHARACTERS


def test_views_stay_with_their_rows_when_others_are_removed():
    pool = Rows(["p one", "", "p one", "p two"], [None] * 4, ["w1", "w2", "w3", "w4"], ["s1", "s2", "s3", "s4"])
    splits = make_splits(LABELED, [pool])
    assert splits.pool.texts == ["p one", "p two"]
    assert splits.pool.weak == ["w1", "w4"]
    assert splits.pool.strong == ["s1", "s4"]


def test_a_part_without_views_stands_in_with_its_texts():
    splits = make_splits(LABELED, [Rows(["p one"], [None]), Rows(["p two"], [None], weak=["w two"])])
    assert splits.pool.weak == ["p one", "w two"]
    assert splits.pool.strong is None


def test_rows_are_picked_in_the_order_asked_for():
    picked = Rows(["x", "y", "z"], ["a", None, "b"], weak=["wx", "wy", "wz"]).rows([2, 0])
    assert picked == Rows(["z", "x"], ["b", "a"], weak=["wz", "wx"])


@pytest.mark.parametrize("text", ["one two", " one  two ", "one\n\ttwo", "one\u00a0two"])
def test_texts_that_differ_only_in_white_space_are_the_same(text):
    assert same_text(text) == "one two"


def test_case_makes_texts_differ():
    assert same_text("One") != same_text("one")


def test_labels_that_differ_only_in_case_or_spaces_are_pointed_out():
    splits = make_splits(Rows(["v", "w", "x", "y"], ["Spam", "spam ", "ham", "ham"]))
    assert splits.classes == ["Spam", "ham", "spam "]
    assert splits.counts["alike_labels"] == 2
    assert any("by their spelling: 'Spam' (1) and 'spam ' (1)." in note for note in splits.notes)


@pytest.mark.parametrize("label", ["N/A", "?", " null ", "None", "unlabelled"])
def test_a_label_that_looks_like_none_is_a_class_and_pointed_out(label):
    splits = make_splits(Rows(["v", "w", "x"], ["spam", "ham", label]))
    assert label in splits.classes
    assert any(repr(label) in note and "data.unlabeled_value" in note for note in splits.notes)


def test_ordinary_labels_are_not_pointed_out():
    splits = make_splits(Rows(["v", "w", "x"], ["none of these", "unknown error", "no"]))
    assert splits.counts["blank_looking_classes"] == 0
