"""The same job over several seeds: mean and spread, and one model to keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jointmatch.config import merge
from jointmatch.data import Splits
from jointmatch.listener import Listener
from jointmatch.model import copy_model
from jointmatch.record import RunFolder
from jointmatch.run import run
from jointmatch.training.metrics import summary


def run_seeds(
    splits_of: Callable[[int], Splits],
    settings: Mapping[str, Any],
    seeds: Sequence[int],
    folder: str | Path,
    listener: Listener,
    resume: bool = False,
) -> dict[str, Any]:
    """Run each seed into ``folder/seed-S``, then write the summary and the model of the best dev score.

    Without a dev part the first seed's model is kept: choosing among them needs labels.
    """
    results = []
    for seed in seeds:
        listener.note(f"Seed {seed}:")
        place = RunFolder(Path(folder) / f"seed-{seed}")
        place.claim(overwrite=not resume, resume=resume)
        own = merge(settings, {"training": {"seed": seed}})
        results.append(run(splits_of(seed), own, place.path, listener, resume).result)
    kept = max(range(len(seeds)), key=lambda i: results[i]["scores"].get("dev", {}).get("accuracy", 0.0))
    copy_model(Path(folder) / f"seed-{seeds[kept]}" / "model", Path(folder) / "model")
    combined = {
        "seeds": list(seeds),
        "kept_seed": seeds[kept],
        "summary": summarize(results),
        **{key: results[0][key] for key in ("version", "algorithm", "recipe", "mode", "backbone", "device", "classes")},
        "runs": results,
    }
    RunFolder(folder).write_result(combined)
    return combined


def summarize(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Method -> part -> metric -> mean, spread and values."""
    rows: dict[str, Any] = {}
    if all(r.get("cross_validation") for r in results):
        for name in results[0]["cross_validation"]:
            values = [r["cross_validation"][name]["accuracy"] for r in results]
            rows[name] = {"cross-validation": {"accuracy": summary(values)}}
    for part in results[0]["scores"]:
        own = {m: summary([r["scores"][part][m] for r in results]) for m in ("accuracy", "macro_f1")}
        rows.setdefault(results[0]["algorithm"], {})[part] = own
        for name in results[0].get("baselines", {}):
            scores = [r["baselines"][name][part] for r in results]
            rows.setdefault(name, {})[part] = {m: summary([s[m] for s in scores]) for m in ("accuracy", "macro_f1")}
    return rows
