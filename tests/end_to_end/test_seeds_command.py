"""``jointmatch train --seeds``: a folder each, one model, and what is refused."""

from __future__ import annotations

import json
import shutil

import pytest

from jointmatch.model import Model
from jointmatch.training import LiteLearner
from tests.end_to_end.conftest import FAST, entries_of
from tests.unit.training.toy import StopAt


@pytest.fixture
def train(command, toy, tiny_backbone, tmp_path, monkeypatch):
    monkeypatch.setattr(LiteLearner, "why_not_joined", lambda self: None)  # on a CPU it would not pay

    def call(*words: object, output=tmp_path / "run", parts=("dev", "test")):
        files = [word for part in parts for word in (f"--{part}", toy / f"{part}.csv")]
        fixed = ("--backbone", tiny_backbone, *FAST, "--set", "output.baselines=false")
        return command("train", toy / "train.csv", "--output", output, *files, *fixed, *words)

    return call


def test_every_seed_leaves_a_folder_and_the_best_on_dev_is_the_model(train, command, toy, tmp_path):
    ran = train("--seeds", 3, "--seed", 4)
    assert ran.code == 0, ran.err
    assert "Training 3 seeds side by side." in ran.err
    assert "seed 6  step 20" in ran.err
    assert "over 3 seeds" in ran.out
    result = json.loads((tmp_path / "run/result.json").read_text())
    assert result["seeds"] == [4, 5, 6]
    dev = [json.loads((tmp_path / f"run/seed-{s}/result.json").read_text())["scores"]["dev"] for s in (4, 5, 6)]
    accuracies = [scores["accuracy"] for scores in dev]
    assert result["summary"]["jointmatch"]["dev"]["accuracy"]["values"] == accuracies
    assert accuracies[result["kept_seed"] - 4] == max(accuracies)
    assert f"Model kept: seed {result['kept_seed']}, the best accuracy on the dev part." in ran.out
    assert Model.load(tmp_path / "run/model").facts.seed == result["kept_seed"]
    evaluated = json.loads(command("evaluate", tmp_path / "run/model", toy / "dev.csv", "--json").out)
    assert evaluated["accuracy"] == max(accuracies)


def test_without_dev_the_first_seed_is_the_model_and_it_says_so(train, tmp_path):
    ran = train("--seeds", 2, parts=("test",))
    assert "Model kept: seed 0, the first: there is no dev part to choose on." in ran.out
    assert Model.load(tmp_path / "run/model").facts.seed == 0


def test_each_seed_is_the_run_of_that_seed_alone(train, tmp_path):
    train("--seeds", 2)
    train("--seed", 1, output=tmp_path / "alone")
    found, wanted = (json.loads((tmp_path / p / "result.json").read_text()) for p in ("run/seed-1", "alone"))
    for part in ("dev", "test"):
        assert found["scores"][part]["confusion"] == wanted["scores"][part]["confusion"]
    assert (found["kept_step"], found["seed"], found["side_by_side"]) == (wanted["kept_step"], 1, 2)
    lines = [(tmp_path / p / "history.jsonl").read_text().splitlines() for p in ("run/seed-1", "alone")]
    for one, other in zip(*lines, strict=True):
        assert json.loads(one)["loss"] == pytest.approx(json.loads(other)["loss"], rel=1e-4)


def test_finished_seeds_are_kept_and_more_may_be_added(train, tmp_path):
    train("--seeds", 2)
    before = entries_of(tmp_path / "run/seed-1")
    ran = train("--seeds", 4, "--resume", "--json")
    assert ran.code == 0, ran.err
    assert [run["seed"] for run in json.loads(ran.out)["runs"]] == [0, 1, 2, 3]
    assert entries_of(tmp_path / "run/seed-1") == before


def test_a_seed_whose_result_is_missing_is_trained_again(train, tmp_path):
    train("--seeds", 2)
    wanted = json.loads((tmp_path / "run/result.json").read_text())["runs"][1]["scores"]
    shutil.rmtree(tmp_path / "run/seed-1")
    ran = train("--seeds", 2, "--resume", "--json")
    assert json.loads(ran.out)["runs"][1]["scores"] == wanted


@pytest.mark.parametrize("count", ["0", "-2", "two", "1.5"])
def test_a_number_of_seeds_that_is_none_is_refused(train, count, tmp_path):
    ran = train("--seeds", count)
    assert ran.code == 2
    assert "--seeds" in ran.err
    assert not (tmp_path / "run").exists()


def assert_refused(ran, *expected: str) -> None:
    assert (ran.code, ran.out) == (2, "")
    for part in expected:
        assert part in ran.err.splitlines()[-1]


def test_seeds_that_would_be_left_out_are_not_resumed(train, tmp_path):
    train("--seeds", 3, "--seed", 1)
    before = entries_of(tmp_path / "run")
    assert_refused(train("--seeds", 2, "--seed", 1, "--resume"), "holds seeds 1, 2, 3", "--seed 1 --seeds 3")
    assert_refused(train("--seeds", 3, "--seed", 2, "--resume"), "and 1 would be left out")
    assert_refused(train("--resume"), "holds several seeds", "--seeds")
    assert entries_of(tmp_path / "run") == before


def test_a_run_of_one_seed_is_not_resumed_as_several(train, tmp_path):
    train()
    before = entries_of(tmp_path / "run")
    assert_refused(train("--seeds", 2, "--resume"), "a single seed", "without --seeds")
    assert entries_of(tmp_path / "run") == before


def test_a_last_seed_that_is_too_large_is_found_before_the_folder_is_touched(train, tmp_path):
    assert_refused(train("--seeds", 3, "--seed", 2**32 - 2), "training.seed is 4294967296")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["result.json", "history.jsonl"])
def test_a_seed_whose_record_is_damaged_is_finished_again(train, tmp_path, name):
    train("--seeds", 2)
    wanted = json.loads((tmp_path / "run/result.json").read_text())["runs"][1]["scores"]
    (tmp_path / "run/seed-1" / name).write_text("{")
    ran = train("--seeds", 2, "--resume", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["runs"][1]["scores"] == wanted


def test_other_settings_are_not_mixed_with_finished_seeds(train, tmp_path):
    train("--seeds", 2)
    before = (tmp_path / "run/result.json").read_bytes()
    ran = train("--seeds", 2, "--resume", "--set", "training.learning_rate=0.5")
    assert_refused(ran, "other settings (training.learning_rate was 0.005, is 0.5)")
    assert (tmp_path / "run/result.json").read_bytes() == before


def test_seeds_that_draw_their_own_labels_have_their_own(train, tmp_path):
    ran = train("--seeds", 2, "--labels-per-class", 2, "--json")
    assert ran.code == 0, ran.err
    assert [run["labelled"] for run in json.loads(ran.out)["runs"]] == [6, 6]
    pools = [(tmp_path / f"run/seed-{seed}/pseudo_labels.parquet").read_bytes() for seed in (0, 1)]
    assert pools[0] != pools[1]


def test_overwriting_leaves_nothing_of_more_seeds(train, tmp_path):
    train("--seeds", 3)
    assert train("--seeds", 2, "--overwrite").code == 0
    assert not (tmp_path / "run/seed-2").exists()


def test_what_was_interrupted_goes_on_to_the_same_result(train, tmp_path, monkeypatch):
    wanted = json.loads(train("--seeds", 2, "--json", output=tmp_path / "whole").out)
    with monkeypatch.context() as patch:
        patch.setattr("jointmatch.cli.output.make_listener", lambda quiet: StopAt(9))
        stopped = train("--seeds", 2)
    assert stopped.code == 130
    assert "--resume" in stopped.err
    assert not (tmp_path / "run/model").exists()
    ran = train("--seeds", 2, "--resume", "--json")
    assert "Resumed after step 5." in ran.err
    assert json.loads(ran.out)["summary"] == wanted["summary"]


@pytest.fixture
def compared(train):
    return lambda *words, **places: train(*words, "--set", "output.baselines=true", "--json", **places)


def test_leads_over_baselines_are_paired_by_seed_and_text(compared, tmp_path):
    result = json.loads(compared("--seeds", 2).out)
    for name, parts in result["leads"].items():
        for part, lead in parts.items():
            means = [result["summary"][method][part]["accuracy"]["mean"] for method in ("jointmatch", name)]
            assert lead["gain"] == pytest.approx(means[0] - means[1])
            assert lead["over"] == "seeds and texts"
    assert set(result["leads"]) == {"supervised", "logistic_regression", "label_spreading"}
    for run in result["runs"]:
        hits = json.loads((tmp_path / f"run/seed-{run['seed']}/hits.json").read_text())
        assert {lead["over"] for parts in run["leads"].values() for lead in parts.values()} == {"texts alone"}
        assert hits["test"]["texts"] == run["test_texts"] != hits["dev"]["texts"]
        for part in ("dev", "test"):
            rates = {name: row[part]["accuracy"] for name, row in run["baselines"].items()}
            rates["jointmatch"] = run["scores"][part]["accuracy"]
            found = {name: right.count("1") / len(right) for name, right in hits[part]["right"].items()}
            assert found == pytest.approx(rates)


def test_leads_are_the_same_when_seeds_were_finished_earlier(compared, tmp_path):
    wanted = json.loads(compared("--seeds", 3, output=tmp_path / "whole").out)["leads"]
    compared("--seeds", 2)
    assert json.loads(compared("--seeds", 3, "--resume").out)["leads"] == wanted


def test_seeds_of_an_earlier_version_are_compared_without_their_texts(compared, tmp_path):
    wanted = json.loads(compared("--seeds", 2).out)
    (tmp_path / "run/seed-1/hits.json").unlink()
    found = json.loads(compared("--seeds", 2, "--resume").out)
    assert found["summary"] == wanted["summary"]
    assert {lead["over"] for parts in found["leads"].values() for lead in parts.values()} == {"seeds alone"}


@pytest.mark.parametrize(("drawn", "over"), [((), "seeds and texts"), (("--labels-per-class", 4), "seeds alone")])
def test_labelled_texts_are_left_out_for_all_seeds_alike_unless_each_draws_its_own(compared, drawn, over):
    leads = json.loads(compared("--seeds", 2, *drawn, parts=()).out)["leads"]
    assert {name: parts["cross-validation"]["over"] for name, parts in leads.items()} == dict.fromkeys(leads, over)
    assert leads
