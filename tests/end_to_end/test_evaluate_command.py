"""The command that scores a model on a labelled file."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.conftest import topic_texts
from tests.end_to_end.conftest import FAST
from tests.end_to_end.tables import write_table


def test_evaluate_shows_scores_and_a_confusion_table(command, model, toy):
    ran = command("evaluate", model, toy / "test.csv")
    assert ran.code == 0
    assert "30 texts: accuracy" in ran.out
    assert "true \\ predicted" in ran.out


def test_evaluate_reads_the_column_that_the_model_was_trained_on(command, model, toy, tmp_path):
    """Beside the texts, under the name that would be guessed, there is one word for all: a third of it is right."""
    trained = tmp_path / "model"
    shutil.copytree(model, trained)
    facts = json.loads((trained / "jointmatch.json").read_text())
    (trained / "jointmatch.json").write_text(json.dumps(facts | {"text_column": "note"}))
    rows = (toy / "test.csv").read_text().replace("text,label", "note,label", 1).splitlines()
    named = [f"text,{rows[0]}", *(f"word,{row}" for row in rows[1:])]
    (tmp_path / "a.csv").write_text("\n".join(named))
    files = [(trained, tmp_path / "a.csv"), (model, toy / "test.csv"), (model, tmp_path / "a.csv")]
    scores = [json.loads(command("evaluate", *each, "--json").out)["accuracy"] for each in files]
    assert scores[0] == scores[1]
    assert scores[2] == pytest.approx(1 / 3)


def test_a_confusion_table_too_wide_for_the_screen_becomes_a_list_of_mistakes(command, model, toy, monkeypatch):
    monkeypatch.setattr("jointmatch.cli.output.width", lambda: 30)
    ran = command("evaluate", model, toy / "test.csv")
    assert ran.code == 0
    assert "true \\ predicted" not in ran.out
    assert "Most frequent mistakes" in ran.out


def test_a_file_that_lacks_classes_is_scored_with_a_word_on_macro_f1(command, model, tmp_path):
    (tmp_path / "one.csv").write_text("text,label\nthe old apple and plum,fruit\n")
    ran = command("evaluate", model, tmp_path / "one.csv")
    assert ran.code == 0, ran.err
    assert "one.csv has no text of 2 class(es) ('metal', 'music'): macro-F1 counts such a class as 0 if" in ran.out


def test_a_model_remembers_which_label_means_none_when_it_is_evaluated(command, tiny_backbone, tmp_path):
    texts, labels = topic_texts(40)
    data = write_table(tmp_path / "train.csv", texts, [*labels[:15], *["-1"] * 25])
    own = ("--output", tmp_path / "run", "--backbone", tiny_backbone, *FAST, "--set", "data.unlabeled_value=-1")
    assert command("train", data, *own).code == 0
    scored = command("evaluate", tmp_path / "run" / "model", data, "--json")
    assert scored.code == 0, scored.err
    found = json.loads(scored.out)
    assert (found["n"], found["without_label"]) == (15, 25)


def test_a_score_on_texts_that_the_model_was_trained_on_is_said_to_be_too_kind(command, tiny_backbone, tmp_path):
    texts, labels = topic_texts(40)
    data = write_table(tmp_path / "train.csv", texts[:15], labels[:15])
    mixed = write_table(tmp_path / "mixed.csv", texts[10:20], labels[10:20])
    new = write_table(tmp_path / "new.csv", texts[15:25], labels[15:25])
    assert command("train", data, "--output", tmp_path / "run", "--backbone", tiny_backbone, *FAST).code == 0
    found = {file.stem: command("evaluate", tmp_path / "run" / "model", file, "--json") for file in (mixed, new)}
    known = len({*texts[:15]} & {*texts[10:20]})
    assert f"{known} of 10 text(s) are among the labelled ones" in found["mixed"].err
    assert "too kind" not in found["new"].err
    assert [json.loads(ran.out)["trained_on"] for ran in found.values()] == [known, 0]
