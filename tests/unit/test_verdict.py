"""What a finished run says for itself."""

from typing import Any

import pytest

from jointmatch.cli.verdict import show_run, show_summary
from jointmatch.training.metrics import summary

SCORES = {"accuracy": 0.8, "macro_f1": 0.8}


def result(algorithm="jointmatch", accuracy=0.9, n=1000, **more):
    own = {"test": {"accuracy": accuracy, "macro_f1": accuracy, "n": n}}
    facts = {"algorithm": algorithm, "mode": "lite", "selection": "s", "kept_step": 1, "termination": "max_steps"}
    return {**facts, "scores": own, "baselines": {"supervised": {"test": SCORES}}, **more}


def seeds_with(values, *parts):
    """Two seeds with these accuracies on each part, on test unless it is said."""
    rows = {name: {part: {"accuracy": summary(own)} for part in parts or ["test"]} for name, own in values.items()}
    return {"algorithm": "jointmatch", "seeds": [0, 1], "summary": rows}


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [
        (0.9, "jointmatch is ahead of the best baseline, supervised, on test: +10.00 points"),
        (0.75, "jointmatch is NOT ahead of the best baseline, supervised, on test: -5.00 points"),
        (0.8, "jointmatch is level with the best baseline, supervised, on test: +0.00 points"),
    ],
)
def test_the_result_is_held_against_the_best_baseline(capsys, accuracy, said):
    show_run(result(accuracy=accuracy), "run")
    assert said in " ".join(capsys.readouterr().out.split())


def test_the_networks_alone_are_shown_and_are_no_baseline(capsys):
    baselines = {"supervised": {"test": SCORES}, "networks_alone": {"test": {"accuracy": 0.95, "macro_f1": 0.95}}}
    show_run(result(baselines=baselines), "run")
    out = " ".join(capsys.readouterr().out.split())
    assert "networks alone 95.00" in out
    assert "best baseline, supervised, on test: +10.00 points" in out


def test_nor_are_they_one_in_a_cross_validation_or_over_seeds(capsys):
    accuracies = {"supervised": 0.7, "networks_alone": 0.95, "jointmatch": 0.8}
    rates = {name: {"accuracy": rate, "standard_error": 0.01, "n": 48} for name, rate in accuracies.items()}
    show_run(result(scores={}, baselines={}, cross_validation=rates), "run")
    show_summary(seeds_with({name: [rate, rate] for name, rate in accuracies.items()}))
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("networks alone") == 2
    assert "best baseline, supervised, in cross-validation: +10.00 points" in out
    assert "best baseline, supervised, on test: +10.00 points" in out


def test_supervised_training_is_not_held_against_itself(capsys):
    show_run(result("supervised"), "run")
    out = capsys.readouterr().out
    assert "ahead" not in out
    assert out.count("supervised") == 1


def test_in_full_mode_the_baselines_are_said_to_read_frozen_features(capsys):
    show_run(result(mode="full"), "run")
    assert "frozen features" in capsys.readouterr().out


def lead(error: float, over: str = "texts alone", part: str = "test") -> dict[str, Any]:
    return {"supervised": {part: {"gain": 0.1, "standard_error": error, "over": over}}}


def test_a_gain_within_its_standard_error_in_a_cross_validation_is_called_that(capsys):
    rates = {
        "supervised": {"accuracy": 0.70, "standard_error": 0.06, "n": 48},
        "jointmatch": {"accuracy": 0.79, "standard_error": 0.08, "n": 48},
    }
    leads = lead(0.1, part="cross-validation")
    show_run(result(scores={}, baselines={}, cross_validation=rates, leads=leads), "run")
    out = capsys.readouterr().out
    assert "is ahead of the best baseline, supervised, in cross-validation: +9.00 points, less than its standard" in out
    assert "error of 10.00 over texts alone." in out
    assert "70.00 ± 6.0" in out


@pytest.mark.parametrize(
    ("accuracy", "error", "said"),
    [
        (0.85, 0.06, "is ahead of the best baseline, supervised, on test: +5.00 points, less than its standard error"),
        (0.75, 0.06, "NOT ahead of the best baseline, supervised, on test: -5.00 points, less than its standard error"),
        (0.85, 0.017, "+5.00 points, standard error 1.70 over texts alone."),
        (0.75, 0.0186, "-5.00 points, standard error 1.86 over texts alone."),
    ],
)
def test_a_difference_within_its_standard_error_on_a_part_is_called_that_either_way(capsys, accuracy, error, said):
    show_run(result(accuracy=accuracy, leads=lead(error)), "run")
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("leads", [{}, {"leads": {}}, {"leads": lead(0.0)}, {"leads": lead(0.1, part="dev")}])
def test_a_lead_without_a_known_error_is_told_without_one(capsys, leads):
    show_run(result(**leads), "run")
    assert "on test: +10.00 points." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("gain", "over", "said"),
    [
        (0.01, "seeds and texts", "+1.00 points, less than its standard error of 4.00 over seeds and texts."),
        (0.05, "seeds alone", "+5.00 points, standard error 4.00 over seeds alone."),
    ],
)
def test_the_standard_error_of_several_seeds_is_told_with_what_it_is_over(capsys, gain, over, said):
    values = {"supervised": [0.5, 0.8], "jointmatch": [0.5 + gain, 0.8 + gain]}
    show_summary(seeds_with(values) | {"leads": lead(0.04, over)})
    assert said in " ".join(capsys.readouterr().out.split())


def test_one_seed_is_shown_without_a_spread(capsys):
    show_summary(seeds_with({"jointmatch": [0.8]}) | {"seeds": [0]})
    out = " ".join(capsys.readouterr().out.split())
    assert "Scores of 1 seed (%)" in out
    assert "80.00" in out
    assert "±" not in out


def test_several_seeds_are_shown_as_mean_and_population_spread(capsys):
    """0.8 and 0.9: mean 0.85, each 0.05 from it."""
    show_summary(seeds_with({"jointmatch": [0.8, 0.9]}))
    out = " ".join(capsys.readouterr().out.split())
    assert "Mean ± standard deviation over 2 seeds (%)" in out
    assert "85.00 ± 5.00" in out


def test_scores_on_dev_are_said_to_be_too_kind_and_those_on_test_are_not(capsys):
    kind = "The checkpoint of jointmatch was chosen on dev, so its score there is too kind."
    own = {"accuracy": 0.9, "macro_f1": 0.9, "n": 100}
    both = {"dev": own, "test": own}
    show_run(result(scores=both, baselines={"supervised": {"dev": SCORES, "test": SCORES}}), "run")
    show_summary(seeds_with({"jointmatch": [0.5, 0.6]}, "dev", "test"))
    out = capsys.readouterr().out
    assert out.count(kind) == 2
    assert "--test" not in out
    show_run(result(scores={"dev": own}, baselines={"supervised": {"dev": SCORES}}), "run")
    assert f"{kind} --test FILE gives one that is not." in capsys.readouterr().out
    show_run(result(), "run")
    show_summary(seeds_with({"jointmatch": [0.5, 0.6]}))
    assert "kind" not in capsys.readouterr().out
