"""What a finished run says for itself."""

import pytest

from jointmatch.cli.verdict import show_run

SCORES = {"accuracy": 0.8, "macro_f1": 0.8}


def result(algorithm="jointmatch", accuracy=0.9, **more):
    own = {"test": {"accuracy": accuracy, "macro_f1": accuracy}}
    facts = {"algorithm": algorithm, "mode": "lite", "selection": "s", "kept_step": 1, "termination": "max_steps"}
    return {**facts, "scores": own, "baselines": {"supervised": {"test": SCORES}}, **more}


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [
        (0.9, "jointmatch is ahead of the best baseline, supervised, on test: +10.00 points"),
        (0.75, "jointmatch is NOT ahead of the best baseline, supervised, on test: -5.00 points"),
    ],
)
def test_the_result_is_held_against_the_best_baseline(capsys, accuracy, said):
    show_run(result(accuracy=accuracy), "run")
    assert said in capsys.readouterr().out


def test_supervised_training_is_not_held_against_itself(capsys):
    show_run(result("supervised"), "run")
    out = capsys.readouterr().out
    assert "ahead" not in out
    assert out.count("supervised") == 1


def test_in_full_mode_the_baselines_are_said_to_read_frozen_features(capsys):
    show_run(result(mode="full"), "run")
    assert "frozen features" in capsys.readouterr().out


def test_a_gain_within_the_standard_error_of_a_cross_validation_is_called_that(capsys):
    rates = {
        "supervised": {"accuracy": 0.70, "standard_error": 0.06, "n": 48},
        "jointmatch": {"accuracy": 0.72, "standard_error": 0.06, "n": 48},
    }
    show_run(result(scores={}, baselines={}, cross_validation=rates), "run")
    out = capsys.readouterr().out
    assert "+2.00 points, less than the standard error" in out
    assert "70.00 ± 6.0" in out
