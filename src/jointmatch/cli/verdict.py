"""Summarise a finished run: its scores beside the baselines', and how far to trust them."""

from __future__ import annotations

from math import sqrt
from statistics import stdev
from typing import TYPE_CHECKING, Any

from jointmatch.cli.output import percent, say, spread, table
from jointmatch.types import NETWORKS_ALONE

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDED = {"max_steps": "trained for all steps", "early_stopping": "stopped early, as dev accuracy rose no more"}


def show_run(result: dict[str, Any], folder: str) -> None:
    """Print the verdict on one run."""
    if result["scores"]:
        _show_scores(result)
    elif result.get("cross_validation"):
        _show_cross_validation(result)
    say(f"Weights kept: {result['selection']} (step {result['kept_step']}; {ENDED[result['termination']]}).")
    say(f"Run folder: {folder}   Model: {folder}/model")


def _show_scores(result: dict[str, Any]) -> None:
    parts = list(result["scores"])
    columns = ["method", *(f"{part} {metric}" for part in parts for metric in ("accuracy", "macro-F1"))]
    baselines = {k: v for k, v in result.get("baselines", {}).items() if k != result["algorithm"]}
    methods = {**baselines, result["algorithm"]: result["scores"]}
    rows = [
        [_title(name), *(percent(scores[part][m]) for part in parts for m in ("accuracy", "macro_f1"))]
        for name, scores in methods.items()
    ]
    frozen = "; the baselines on frozen features" if baselines and result["mode"] == "full" else ""
    table(columns, rows, title=f"Scores (%){frozen}")
    part = "test" if "test" in parts else parts[0]
    rates = {name: scores[part]["accuracy"] for name, scores in methods.items()}
    errors = {name: _binomial_error(rate, result["scores"][part]["n"]) for name, rate in rates.items()}
    own = rates.pop(result["algorithm"])
    rates.pop(NETWORKS_ALONE, None)
    _say_verdict(result["algorithm"], own, rates, f"on {part}", _of_differences(errors, result["algorithm"]))


def _show_cross_validation(result: dict[str, Any]) -> None:
    scores = result["cross_validation"]
    rows = [
        [_title(name), f"{percent(s['accuracy'])} ± {100 * s['standard_error']:.1f}", str(s["n"])]
        for name, s in scores.items()
    ]
    note = " (on frozen features)" if result["mode"] == "full" else ""
    table(["method", "accuracy ± standard error (%)", "labelled texts"], rows, title=f"Cross-validation{note}")
    say("Without --dev or --test, these scores come from leaving out labelled texts in turn. Every method then has")
    say("fewer labels than in the final model, which hurts purely supervised ones most: take scores and lead as rough.")
    rest = {name: s["accuracy"] for name, s in scores.items() if name not in (result["algorithm"], NETWORKS_ALONE)}
    own = scores[result["algorithm"]]["accuracy"]
    errors = _of_differences({name: s["standard_error"] for name, s in scores.items()}, result["algorithm"])
    _say_verdict(result["algorithm"], own, rest, "in cross-validation", errors)


def show_seeds(result: dict[str, Any], folder: str) -> None:
    """Print the verdict on several seeds."""
    rows_of = result["summary"]
    if rows_of:
        show_summary(rows_of, result["algorithm"], len(result["seeds"]))
    say(f"Model kept: seed {result['kept_seed']}, {result['kept_because']}.")
    say(f"Run folder: {folder}   Model: {folder}/model")


def show_summary(rows_of: dict[str, Any], algorithm: str, seeds: int) -> None:
    """Print mean and spread of every method, the algorithm last."""
    parts = list(rows_of[algorithm])
    cells = [(part, metric) for part in parts for metric in rows_of[algorithm][part]]
    columns = ["method", *(f"{part} {metric.replace('macro_f1', 'macro-F1')}" for part, metric in cells)]
    names = [*(name for name in rows_of if name != algorithm), algorithm]
    rows = [[_title(name), *(spread(rows_of[name][part][metric]) for part, metric in cells)] for name in names]
    what = "Mean ± standard deviation over" if seeds > 1 else "Scores of"
    table(columns, rows, title=f"{what} {seeds} seed{'s' * (seeds > 1)} (%)")
    part = "test" if "test" in parts else parts[0]
    means = {name: row[part]["accuracy"]["mean"] for name, row in rows_of.items() if name != NETWORKS_ALONE}
    values = {name: row[part]["accuracy"]["values"] for name, row in rows_of.items()}
    errors = {name: _error_of_mean(values[algorithm], others) for name, others in values.items()}
    where = f"on {part}" if part != "cross-validation" else f"in {part}"
    _say_verdict(algorithm, means.pop(algorithm), means, where, errors, " over seeds that are scored on the same texts")


def _binomial_error(rate: float, count: int) -> float:
    return sqrt(rate * (1 - rate) / count)


def _of_differences(errors: dict[str, float], algorithm: str) -> dict[str, float]:
    """Standard errors of the differences from the algorithm, as if each method had been scored on texts of its own.

    All are scored on the same texts, so the true errors are smaller: a gain is doubted too soon rather than too late.
    """
    return {name: sqrt(error**2 + errors[algorithm] ** 2) for name, error in errors.items()}


def _error_of_mean(own: Sequence[float], others: Sequence[float]) -> float:
    """Standard error of the mean difference between two methods, seed by seed; 0 for one seed, which cannot tell."""
    gains = [a - b for a, b in zip(own, others, strict=True)]
    return stdev(gains) / sqrt(len(gains)) if len(gains) > 1 else 0.0


def _say_verdict(
    algorithm: str, own: float, baselines: dict[str, float], where: str, errors: dict[str, float], kind: str = ""
) -> None:
    """Compare a result with the best baseline; ``errors`` are standard errors of the differences, of this ``kind``."""
    if not baselines:
        return
    best = max(baselines, key=lambda name: baselines[name])
    gain = own - baselines[best]
    word = "ahead of" if gain > 0 else "NOT ahead of" if gain < 0 else "level with"
    doubt = f", {_held_against(gain, errors[best], kind)}" if errors[best] else ""
    say(f"{algorithm} is {word} the best baseline, {_title(best)}, {where}: {100 * gain:+.2f} points{doubt}.")


def _held_against(gain: float, error: float, kind: str) -> str:
    shown = f"{100 * error:.2f}"
    return f"less than its standard error of {shown}{kind}" if abs(gain) < error else f"standard error {shown}{kind}"


def _title(name: str) -> str:
    return name.replace("_", " ")
