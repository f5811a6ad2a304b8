"""The baselines a result stands beside."""

from typing import Any

import numpy as np
import pytest
import torch

from jointmatch.comparison import Comparison, _rate
from jointmatch.resolve import resolve
from jointmatch.training import FeatureSet, Listener
from jointmatch.words import Lessons, WordReader
from tests.unit.training.toy import tiny_run

CLASSES = 3


def features(per_class: int, pool: int = 30, seed: int = 0) -> FeatureSet:
    """Two networks, three far-apart classes in eight dimensions, so that any sane method is right."""
    generator = torch.Generator().manual_seed(seed)
    centers = 5 * torch.eye(8)[:CLASSES]

    def draw(labels: torch.Tensor) -> torch.Tensor:
        return centers[labels] + 0.3 * torch.randn(2, len(labels), 8, generator=generator)

    labels = torch.arange(CLASSES).repeat(per_class)
    weak = draw(torch.arange(pool) % CLASSES)
    test = draw(torch.arange(12) % CLASSES)
    return FeatureSet(draw(labels), labels, weak, [weak], {"test": test, "pool": weak})


def comparison(given: FeatureSet, listener: Listener | None = None, lessons: Lessons | None = None) -> Comparison:
    config = resolve({"training": {"steps": 5}}, "lite")
    return Comparison(given, config, CLASSES, listener or Listener(), lessons)


def test_both_baselines_are_scored_on_each_part_that_has_labels():
    scores = comparison(features(4)).scores({"test": np.arange(12) % CLASSES}).scores
    assert set(scores) == {"supervised", "logistic_regression", "label_spreading"}
    assert all(score["test"] == {"accuracy": 1.0, "macro_f1": 1.0} for score in scores.values())


def test_which_texts_a_baseline_got_right_is_told_beside_its_score():
    """The texts are of the classes 0 1 2 0 ...; called 0 all through, every third is right."""
    found = comparison(features(4)).scores({"test": np.zeros(12, int)})
    assert list(found.right["test"]) == list(found.scores)
    for hits in found.right["test"].values():
        assert hits.tolist() == [True, False, False] * 4


def test_hits_in_a_cross_validation_are_in_the_order_of_the_texts_whatever_the_folds():
    """Two texts lie where another class does: they alone are taken for it."""
    given = features(4)
    given.labeled[:, [4, 11]] = given.labeled[:, [3, 9]]
    found = comparison(given).cross_validate(4)
    for name, hits in found.right["cross-validation"].items():
        assert hits.mean() == found.scores[name]["accuracy"]
        assert np.flatnonzero(~hits).tolist() == [4, 11], name


def test_every_labelled_text_is_left_out_once_and_never_trained_on(monkeypatch):
    given = features(4)
    seen = []
    original = FeatureSet.fold

    def fold(self: FeatureSet, rows: torch.Tensor) -> FeatureSet:
        seen.append(rows.tolist())
        return original(self, rows)

    monkeypatch.setattr(FeatureSet, "fold", fold)
    scores = comparison(given).cross_validate(4).scores
    assert sorted(row for rows in seen for row in rows) == list(range(12))
    assert set(scores) == {"supervised", "logistic_regression", "label_spreading", "jointmatch"}
    assert all(score == {"accuracy": 1.0, "standard_error": 0.0, "n": 12} for score in scores.values())


def test_a_word_reader_is_asked_beside_and_never_taught_what_is_left_out(monkeypatch):
    """Words are as telling as features; ``without`` is what the fold has left out, in the same order."""
    given, named = features(4, pool=600), ["red apple", "green pear", "blue plum"]
    pool = [named[i % CLASSES] for i in range(600)]
    lessons = Lessons(pool, [named[c] for c in given.labels], given.labels.tolist(), CLASSES)
    folds, left_out, fold, taught = [], [], FeatureSet.fold, Lessons.taught

    def seen_fold(self: FeatureSet, rows: torch.Tensor) -> FeatureSet:
        folds.append(rows.tolist())
        return fold(self, rows)

    def seen_taught(self: Lessons, probs: np.ndarray, without: np.ndarray) -> WordReader:
        left_out.append(without.tolist())
        assert probs.shape == (600, CLASSES)
        return taught(self, probs, without)

    monkeypatch.setattr(FeatureSet, "fold", seen_fold)
    monkeypatch.setattr(Lessons, "taught", seen_taught)
    scores = comparison(given, lessons=lessons).cross_validate(4).scores
    assert left_out == folds
    assert list(scores)[-2:] == ["networks_alone", "jointmatch"]
    assert {scores[name]["accuracy"] for name in ("networks_alone", "jointmatch")} == {1.0}


def test_the_words_of_a_text_are_asked_beside_its_own_features(monkeypatch):
    """Every labelled text has words of its own."""
    given, named = features(4, pool=600), ["red apple", "green pear", "blue plum"]
    texts = [f"{named[c]} {named[i // 4]} {'red ' * i}" for i, c in enumerate(given.labels)]
    lessons = Lessons([named[i % CLASSES] for i in range(600)], texts, given.labels.tolist(), CLASSES)
    folds, asked, fold, beside = [], [], FeatureSet.fold, WordReader.beside

    def seen_fold(self: FeatureSet, rows: torch.Tensor) -> FeatureSet:
        folds.append(rows.numpy())
        return fold(self, rows)

    def seen_beside(self: WordReader, networks: np.ndarray, rows: Any) -> np.ndarray:
        asked.append(rows.toarray())
        return beside(self, networks, rows)

    monkeypatch.setattr(FeatureSet, "fold", seen_fold)
    monkeypatch.setattr(WordReader, "beside", seen_beside)
    comparison(given, lessons=lessons).cross_validate(4)
    every = lessons.labeled.toarray()
    assert len(np.unique(every, axis=0)) == len(every)
    for rows, words in zip(folds, asked, strict=True):
        np.testing.assert_array_equal(words, every[rows])


def test_a_reader_that_does_harm_in_cross_validation_is_told_of(monkeypatch):
    heard: list[str] = []

    class Heard(Listener):
        def warn(self, text: str) -> None:
            heard.append(text)

    given = features(4, pool=600)
    lessons = Lessons(["some words"] * 600, ["some words"] * 12, given.labels.tolist(), CLASSES)
    comparison(given, Heard(), lessons).cross_validate(4)
    assert heard == []
    monkeypatch.setattr(WordReader, "beside", lambda self, networks, rows: np.roll(networks, 1, axis=-1))
    comparison(given, Heard(), lessons).cross_validate(4)
    assert len(heard) == 1
    assert "0.0 % correct in cross-validation with it, 100.0 % without" in heard[0]


def test_what_is_scored_is_what_is_said_with_the_words(monkeypatch):
    given = features(4, pool=600)
    lessons = Lessons(["some words"] * 600, ["some words"] * 12, given.labels.tolist(), CLASSES)
    monkeypatch.setattr(WordReader, "beside", lambda self, networks, rows: np.roll(networks, 1, axis=-1))
    scores = comparison(given, lessons=lessons).cross_validate(4).scores
    assert [scores[name]["accuracy"] for name in ("networks_alone", "jointmatch")] == [1.0, 0.0]


def test_labels_without_any_meaning_score_no_better_than_chance():
    """A method that saw a left-out text's own label would be right about it; chance is a third."""
    given = features(10)
    noise = torch.randn(2, 30, 8, generator=torch.Generator().manual_seed(1))
    scores = comparison(FeatureSet(noise, given.labels, noise, [noise], {})).cross_validate(5).scores
    assert scores["supervised"]["accuracy"] < 0.6
    assert scores["jointmatch"]["accuracy"] < 0.6


def test_a_fold_that_would_leave_a_class_without_an_example_is_passed_over():
    given = features(3)
    keep = torch.tensor([0, 1, 2, 3, 4, 6, 7])  # class 2 keeps one example
    few = FeatureSet(given.labeled[:, keep], given.labels[keep], given.weak, given.strong, given.parts)
    scores = comparison(few).cross_validate(3).scores
    assert 0 < scores["supervised"]["n"] < len(keep)


def test_one_example_of_every_class_gives_no_score_and_says_why():
    notes: list[str] = []
    listener = Listener()
    listener.note = notes.append  # type: ignore[assignment, method-assign]
    assert comparison(features(1), listener).cross_validate(5) == ({}, {})
    assert "too few to cross-validate" in notes[0]


def test_no_folds_asked_for_gives_no_score_without_a_word():
    notes: list[str] = []
    listener = Listener()
    listener.note = notes.append  # type: ignore[assignment, method-assign]
    assert comparison(features(3), listener).cross_validate(0) == ({}, {})
    assert notes == []


def test_the_standard_error_is_the_binomial_one():
    """Three of four right: sqrt(0.75 * 0.25 / 4) = 0.2165."""
    rate = _rate(np.array([True, True, False, True]))
    assert rate == {"accuracy": 0.75, "standard_error": pytest.approx(0.2165, abs=1e-4), "n": 4}


def test_baselines_do_not_depend_on_the_algorithm_they_stand_beside(tiny_backbone):
    settings: dict[str, dict] = {"training": {"mode": "lite", "recipe": "best"}, "output": {"baselines": True}}
    found = [
        tiny_run(tiny_backbone, {**settings, "algorithm": {"name": name}}).result["baselines"]
        for name in ("jointmatch", "fixmatch")
    ]
    for name in ("logistic_regression", "label_spreading", "supervised"):
        assert found[0][name] == found[1][name]
