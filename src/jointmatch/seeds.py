"""Train several seeds into one folder: mean and spread of the scores, and one model to keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from jointmatch.data import Splits
from jointmatch.errors import OutputError
from jointmatch.leads import Hits, Leads, leads_over_seeds, paired_leads
from jointmatch.listener import Listener
from jointmatch.model import copy_model
from jointmatch.record import RunFolder
from jointmatch.run import run_seeds
from jointmatch.training.metrics import summary
from jointmatch.types import CROSS_VALIDATION

SHARED = ("version", "algorithm", "recipe", "mode", "backbone", "device", "side_by_side", "classes")


def train_seeds(
    splits_of: Callable[[int], Splits],
    settings: Mapping[str, Any],
    seeds: Sequence[int],
    folder: str | Path,
    listener: Listener,
    resume: bool = False,
) -> dict[str, Any]:
    """Train each seed into ``folder/seed-S``, then write the summary and the model with the best dev score.

    Without a dev part the first seed's model is kept: choosing among them needs labels.
    """
    places = [RunFolder(Path(folder) / f"seed-{seed}") for seed in seeds]
    with ExitStack() as claims:
        for place in places:
            claims.enter_context(place.claimed(overwrite=not resume, resume=resume))
        outcomes = run_seeds(
            [splits_of(seed) for seed in seeds], settings, seeds, [place.path for place in places], listener, resume
        )
    results = [outcome.result for outcome in outcomes]
    kept, why = choose(results)
    copy_model(places[kept].model, Path(folder) / "model")
    summary_rows = summarize(results)
    combined = {
        "seeds": list(seeds),
        "kept_seed": seeds[kept],
        "kept_because": why,
        "summary": summary_rows,
        "leads": _leads(summary_rows, [outcome.hits for outcome in outcomes], results[0]["algorithm"]),
        **{key: results[0][key] for key in SHARED},
        "runs": results,
    }
    RunFolder(folder).write_result(combined)
    return combined


def check_seeds(folder: str | Path, seeds: Sequence[int]) -> None:
    """Refuse to resume a folder that holds seeds other than these.

    Raises:
        OutputError: if it holds a single run without a seed folder of its own, or seeds that are not asked for.
    """
    path = Path(folder)
    if (path / "config.toml").exists():
        raise OutputError(
            f"{path} holds a run of a single seed: --resume it without --seeds, or choose another --output."
        )
    held = [int(p.name.removeprefix("seed-")) for p in path.glob("seed-*") if p.name.removeprefix("seed-").isdigit()]
    beyond = sorted(set(held) - set(seeds))
    if beyond:
        first = min(held)
        raise OutputError(
            f"{path} holds seeds {', '.join(map(str, sorted(held)))}, and {', '.join(map(str, beyond))} would be left "
            f"out: --resume with --seed {first} --seeds {max(held) - first + 1} or more, or choose another --output."
        )


def check_alone(folder: str | Path) -> None:
    """Refuse to resume a folder of several seeds as if it held one run."""
    if any(Path(folder).glob("seed-*/config.toml")):
        raise OutputError(
            f"{folder} holds several seeds: --resume it with the same --seeds, or choose another --output."
        )


def choose(results: Sequence[dict[str, Any]]) -> tuple[int, str]:
    """Choose which model to keep; return its index and the reason in words."""
    if "dev" not in results[0]["scores"]:
        return 0, "the first: there is no dev part to choose on"
    scores = [result["scores"]["dev"]["accuracy"] for result in results]
    return max(range(len(scores)), key=scores.__getitem__), "the best accuracy on the dev part"


def summarize(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Method -> part -> metric -> mean, spread and values."""
    rows: dict[str, Any] = {}
    if all(r.get("cross_validation") for r in results):
        for name in results[0]["cross_validation"]:
            if not all(name in r["cross_validation"] for r in results):  # some draws of the pool taught no reader
                continue
            values = [r["cross_validation"][name]["accuracy"] for r in results]
            rows[name] = {CROSS_VALIDATION: {"accuracy": summary(values)}}
    for part in results[0]["scores"]:
        own = {m: summary([r["scores"][part][m] for r in results]) for m in ("accuracy", "macro_f1")}
        rows.setdefault(results[0]["algorithm"], {})[part] = own
        for name in results[0].get("baselines", {}):
            if not all(name in r.get("baselines", {}) for r in results):  # some were run without baselines
                continue
            scores = [r["baselines"][name][part] for r in results]
            rows.setdefault(name, {})[part] = {m: summary([s[m] for s in scores]) for m in ("accuracy", "macro_f1")}
    return rows


def _leads(rows: Mapping[str, Any], runs: Sequence[Hits], algorithm: str) -> Leads:
    """Pair the methods by text where all seeds were scored on the same texts, elsewhere by seed alone."""
    paired = paired_leads(runs, algorithm)
    return {name: parts | paired.get(name, {}) for name, parts in leads_over_seeds(rows, algorithm).items()}
