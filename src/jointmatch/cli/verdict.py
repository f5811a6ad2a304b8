"""Summarise a finished run: its scores beside the baselines', and how far to trust them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jointmatch.cli.output import percent, say, spread, table
from jointmatch.types import CROSS_VALIDATION, NETWORKS_ALONE

if TYPE_CHECKING:
    from collections.abc import Collection

    from jointmatch.leads import Leads

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
    _say_who_chose(parts, result["algorithm"])
    part = "test" if "test" in parts else parts[0]
    rates = {name: scores[part]["accuracy"] for name, scores in methods.items()}
    _say_verdict(result["algorithm"], rates, part, result.get("leads", {}))


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
    rates = {name: s["accuracy"] for name, s in scores.items()}
    _say_verdict(result["algorithm"], rates, CROSS_VALIDATION, result.get("leads", {}))


def show_seeds(result: dict[str, Any], folder: str) -> None:
    """Print the verdict on several seeds."""
    if result["summary"]:
        show_summary(result)
    say(f"Model kept: seed {result['kept_seed']}, {result['kept_because']}.")
    say(f"Run folder: {folder}   Model: {folder}/model")


def show_summary(result: dict[str, Any]) -> None:
    """Print mean and spread of every method, the algorithm last."""
    rows_of, algorithm, seeds = result["summary"], result["algorithm"], len(result["seeds"])
    parts = list(rows_of[algorithm])
    cells = [(part, metric) for part in parts for metric in rows_of[algorithm][part]]
    columns = ["method", *(f"{part} {metric.replace('macro_f1', 'macro-F1')}" for part, metric in cells)]
    names = [*(name for name in rows_of if name != algorithm), algorithm]
    rows = [[_title(name), *(spread(rows_of[name][part][metric]) for part, metric in cells)] for name in names]
    what = "Mean ± standard deviation over" if seeds > 1 else "Scores of"
    table(columns, rows, title=f"{what} {seeds} seed{'s' * (seeds > 1)} (%)")
    _say_who_chose(parts, algorithm)
    part = "test" if "test" in parts else parts[0]
    means = {name: row[part]["accuracy"]["mean"] for name, row in rows_of.items()}
    _say_verdict(algorithm, means, part, result.get("leads", {}))


def _say_who_chose(parts: Collection[str], algorithm: str) -> None:
    """Say why scores on dev are not to be believed as they are."""
    if "dev" not in parts:
        return
    fair = "" if "test" in parts else " --test FILE gives one that is not."
    say(f"The checkpoint of {algorithm} was chosen on dev, so its score there is too kind.{fair}")


def _say_verdict(algorithm: str, rates: dict[str, float], part: str, leads: Leads) -> None:
    """Compare a result with the best baseline; ``leads`` may lack their errors if an earlier version found them."""
    baselines = {name: rate for name, rate in rates.items() if name not in (algorithm, NETWORKS_ALONE)}
    if not baselines:
        return
    best = max(baselines, key=lambda name: baselines[name])
    gain = rates[algorithm] - baselines[best]
    word = "ahead of" if gain > 0 else "NOT ahead of" if gain < 0 else "level with"
    where = f"in {part}" if part == CROSS_VALIDATION else f"on {part}"
    lead = leads.get(best, {}).get(part)
    doubt = f", {_held_against(gain, lead)}" if lead and lead["standard_error"] else ""
    say(f"{algorithm} is {word} the best baseline, {_title(best)}, {where}: {100 * gain:+.2f} points{doubt}.")


def _held_against(gain: float, lead: dict[str, Any]) -> str:
    error = lead["standard_error"]
    shown = f"{100 * error:.2f} over {lead['over']}"
    return f"less than its standard error of {shown}" if abs(gain) < error else f"standard error {shown}"


def _title(name: str) -> str:
    return name.replace("_", " ")
