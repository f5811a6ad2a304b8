"""The embedded MiniLM: the demo, and toy problems with few and many classes."""

from __future__ import annotations

import json

import pytest

from jointmatch.data.demo import corpus_file
from tests.end_to_end.conftest import write_csv

pytestmark = pytest.mark.slow

COUNTRIES = (
    "France", "Germany", "Spain", "Italy", "Portugal", "Greece", "Norway", "Sweden", "Finland", "Denmark",
    "Poland", "Hungary", "Romania", "Turkey", "Egypt", "Kenya", "Nigeria", "Ghana", "Morocco", "Ethiopia",
    "India", "China", "Japan", "Korea", "Vietnam", "Thailand", "Canada", "Mexico", "Brazil", "Peru",
)  # fmt: skip
THINGS = ("food", "football", "weather", "railways", "elections")
WAYS = ("news about {b} in {a}", "{a}: what to know of {b}", "a question on {a} and its {b}", "the {b} of {a} today")


def test_the_demo_shows_jointmatch_above_supervised(command, tmp_path):
    ran = command("demo", "--seeds", 1, "--output", tmp_path / "demo", "--json", "--quiet")
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)["summary"]
    assert summary["jointmatch"]["test"]["accuracy"]["mean"] > summary["supervised"]["test"]["accuracy"]["mean"]
    assert (tmp_path / "demo/model/heads.safetensors").is_file()
    again = command("evaluate", tmp_path / "demo/model", corpus_file("test"), "--json")
    assert json.loads(again.out)["accuracy"] == pytest.approx(summary["jointmatch"]["test"]["accuracy"]["mean"])


def test_the_demo_takes_another_algorithm_and_leaves_nothing_where_there_is_none_of_that_name(command, tmp_path):
    ran = command("demo", "--algorithm", "pseudolabel", "--seeds", 1, "--output", tmp_path / "demo", "--quiet")
    assert ran.code == 0, ran.err
    assert "pseudolabel" in ran.out
    assert "Scores of 1 seed (%)" in ran.out
    wrong = command("demo", "--algorithm", "pseudolabels", "--output", tmp_path / "other")
    assert wrong.code == 2
    assert "Did you mean 'pseudolabel'?" in wrong.err
    assert not (tmp_path / "other").exists()


def pairs(count: int) -> list[tuple[str, str]]:
    return [(a, b) for a in COUNTRIES for b in THINGS][:count]


@pytest.mark.parametrize("classes", [2, 150])
def test_a_problem_of_few_or_many_classes_trains_and_predicts(command, tmp_path, classes):
    """Two labelled ways to say each class, one unlabelled, one to predict; chance is 1 / classes."""
    known = [(way.format(a=a, b=b), f"{a} {b}") for a, b in pairs(classes) for way in WAYS[:2]]
    blank = [(WAYS[2].format(a=a, b=b), "") for a, b in pairs(classes)]
    new = [(WAYS[3].format(a=a, b=b), f"{a} {b}") for a, b in pairs(classes)]
    texts, labels = zip(*known, *blank, strict=True)
    train = write_csv(tmp_path / "train.csv", texts, labels)
    test = write_csv(tmp_path / "new.csv", *zip(*new, strict=True))
    ran = command(
        "train", train, "--output", tmp_path / "run", "--mode", "lite", "--quiet", "--json", "--set", "output.folds=0"
    )
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["classes"]) == classes
    predicted = command("predict", tmp_path / "run/model", test, "--json", "--probabilities")
    rows = [json.loads(line) for line in predicted.out.splitlines()]
    assert sum(name.startswith("probability_") for name in rows[0]) == classes
    assert sum(row["prediction"] == row["label"] for row in rows) / len(rows) > max(0.6, 1 / classes)
    shown = command("evaluate", tmp_path / "run/model", test)
    assert shown.code == 0
    assert ("Confusion" in shown.out) == (classes == 2)
