"""Faults that a run survives: exit code 0, and it says what it did."""

from __future__ import annotations

import json

import pytest
import torch

from jointmatch.training.lite import LiteLearner
from tests.conftest import topic_texts
from tests.end_to_end.conftest import FAST, write_csv


@pytest.fixture
def train(command, tiny_backbone, tmp_path):
    def call(rows: list[tuple[str, str]], *words: object):
        texts, labels = zip(*rows, strict=True)
        source = write_csv(tmp_path / "train.csv", texts, labels)
        ran = command("train", source, "--output", tmp_path / "run", "--backbone", tiny_backbone, *FAST, *words)
        assert ran.code == 0, ran.err
        return ran, json.loads((tmp_path / "run/result.json").read_text())

    return call


def rows(labelled: int = 12, blank: int = 20) -> list[tuple[str, str]]:
    texts, labels = topic_texts(labelled + blank)
    return list(zip(texts, labels[:labelled] + [""] * blank, strict=True))


def test_a_class_with_a_single_example_is_trained_and_mentioned(train):
    ran, result = train([*rows(), ("harp and drum is old", "rare")])
    assert "1 class(es) with a single labelled text (rare)" in ran.err
    assert result["classes"] == ["fruit", "metal", "music", "rare"]


def test_one_example_in_every_class_is_enough(train):
    ran, _ = train(rows(labelled=3))
    assert "3 class(es) with a single labelled text" in ran.err


@pytest.mark.parametrize(("policy", "labelled"), [("drop", 12), ("keep", 14)])
def test_a_text_with_two_labels_is_counted_listed_and_treated_as_told(train, policy, labelled):
    twice = [("apple iron", "fruit"), ("apple iron", "metal")]
    ran, result = train([*rows(), *twice], "--set", f"data.conflicts={policy}")
    assert "1 labelled text(s) with two or more labels" in ran.err
    assert result["data"]["conflicts"] == 1
    assert result["conflicts"] == [{"text": "apple iron", "labels": ["fruit", "metal"]}]
    assert result["labelled"] == labelled


def test_empty_and_blank_texts_are_left_out_and_counted(train):
    ran, result = train([*rows(), ("", "fruit"), (" \t ", "metal"), ("   ", "")])
    assert "2 empty labelled text(s): left out" in ran.err
    assert "1 empty unlabelled text(s): left out" in ran.err
    assert (result["labelled"], result["unlabelled"]) == (12, 20)


def test_a_text_of_five_megabytes_is_cut_for_training_and_predicted_on(train, command, tmp_path):
    huge = "apple plum " * 480_000
    ran, _ = train([*rows(), (huge, "fruit")])
    assert "1 text(s) in the labelled file over 50,000 characters: cut there." in ran.err
    write_csv(tmp_path / "new.csv", [huge, "iron"], ["", ""])
    predicted = command("predict", tmp_path / "run/model", tmp_path / "new.csv", "--output", tmp_path / "out.jsonl")
    assert predicted.code == 0
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert first["text"] == huge


def test_out_of_gpu_memory_halves_the_micro_batch_and_goes_on(train, monkeypatch):
    whole = LiteLearner.student_logits
    largest = 20

    def with_little_memory(self, ask):
        if sum(ask.counts) > largest:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(self, ask)

    monkeypatch.setattr(LiteLearner, "student_logits", with_little_memory)
    ran, result = train(rows(), "--set", "output.baselines=false")
    assert "Out of GPU memory: going on with 2 micro-batches per step." in ran.err
    assert ran.err.count("Out of GPU memory") == 1
    assert result["steps"] == 20


def test_labels_that_differ_only_in_case_are_kept_apart_and_mentioned(train):
    ran, result = train([*rows(), ("plum is a plum", "Fruit"), ("lemon is a peach", "Fruit")])
    assert "Different classes, by their spelling: 'Fruit' (2) and 'fruit' (" in ran.err
    assert result["classes"] == ["Fruit", "fruit", "metal", "music"]


def test_rows_without_a_label_are_left_out_of_an_evaluation_and_counted(command, model, tmp_path):
    source = write_csv(tmp_path / "some.csv", ["apple plum", "iron"], ["fruit", ""])
    ran = command("evaluate", model, source)
    assert ran.code == 0
    assert "1 row(s) without a label: left out." in ran.out
    scored = json.loads(command("evaluate", model, source, "--json").out)
    assert scored["n"] == 1
    assert scored["classes"] == list(scored["per_class"])  # in the order of the confusion matrix
