"""What a finished run says for itself."""

import pytest

from jointmatch.cli.verdict import show_run, show_summary
from jointmatch.training.metrics import summary

SCORES = {"accuracy": 0.8, "macro_f1": 0.8}


def result(algorithm="jointmatch", accuracy=0.9, n=1000, **more):
    own = {"test": {"accuracy": accuracy, "macro_f1": accuracy, "n": n}}
    facts = {"algorithm": algorithm, "mode": "lite", "selection": "s", "kept_step": 1, "termination": "max_steps"}
    return {**facts, "scores": own, "baselines": {"supervised": {"test": SCORES}}, **more}


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
    rows = {name: {"test": {"accuracy": summary([rate, rate])}} for name, rate in accuracies.items()}
    show_summary(rows, "jointmatch", 2)
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


def test_a_gain_within_its_standard_error_in_a_cross_validation_is_called_that(capsys):
    """sqrt(0.06^2 + 0.08^2) = 0.10, more than either of the two."""
    rates = {
        "supervised": {"accuracy": 0.70, "standard_error": 0.06, "n": 48},
        "jointmatch": {"accuracy": 0.79, "standard_error": 0.08, "n": 48},
    }
    show_run(result(scores={}, baselines={}, cross_validation=rates), "run")
    out = capsys.readouterr().out
    assert "is ahead of the best baseline, supervised, in cross-validation: +9.00 points, less than its standard" in out
    assert "error of 10.00." in out
    assert "70.00 ± 6.0" in out


@pytest.mark.parametrize(
    ("accuracy", "n", "said"),
    [
        (0.85, 25, "is ahead of the best baseline, supervised, on test: +5.00 points, less than its standard error"),
        (0.75, 25, "NOT ahead of the best baseline, supervised, on test: -5.00 points, less than its standard error"),
        (0.85, 1000, "+5.00 points, standard error 1.70."),
        (0.75, 1000, "-5.00 points, standard error 1.86."),
    ],
)
def test_a_difference_within_its_standard_error_on_a_part_is_called_that_either_way(capsys, accuracy, n, said):
    """0.8 and 0.85 of 25: sqrt((0.16 + 0.1275) / 25) = 0.107; of 1000: 0.017."""
    show_run(result(accuracy=accuracy, n=n), "run")
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        (
            (0.05, -0.03),
            "+1.00 points, less than its standard error of 4.00 over seeds that are scored on the same texts.",
        ),
        ((0.05, 0.03), "+4.00 points, standard error 1.00 over seeds that are scored on the same texts."),
        ((0.02, 0.02), "+2.00 points."),
        ((0.02,), "+2.00 points."),
    ],
)
def test_the_standard_error_over_seeds_is_that_of_the_gains_seed_by_seed(capsys, gains, said):
    """Gains of 0.05 and -0.03: mean 0.01, deviation 0.0566, over the root of 2 seeds 0.04."""
    bases = [0.5, 0.8][: len(gains)]
    rows = {"supervised": bases, "jointmatch": [base + gain for base, gain in zip(bases, gains, strict=True)]}
    show_summary({name: {"test": {"accuracy": summary(values)}} for name, values in rows.items()}, "jointmatch", 2)
    assert said in " ".join(capsys.readouterr().out.split())


def test_one_seed_is_shown_without_a_spread(capsys):
    show_summary({"jointmatch": {"test": {"accuracy": summary([0.8])}}}, "jointmatch", 1)
    out = " ".join(capsys.readouterr().out.split())
    assert "Scores of 1 seed (%)" in out
    assert "80.00" in out
    assert "±" not in out


def test_several_seeds_are_shown_as_mean_and_population_spread(capsys):
    """0.8 and 0.9: mean 0.85, each 0.05 from it."""
    show_summary({"jointmatch": {"test": {"accuracy": summary([0.8, 0.9])}}}, "jointmatch", 2)
    out = " ".join(capsys.readouterr().out.split())
    assert "Mean ± standard deviation over 2 seeds (%)" in out
    assert "85.00 ± 5.00" in out
