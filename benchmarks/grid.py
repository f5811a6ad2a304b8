"""Run an experiment file: every variant with every seed, several at a time, into one result file.

    python benchmarks/grid.py benchmarks/ag_news_lite.toml --data-dir FOLDER

An experiment names a data set, labels per class, seeds, settings that all variants share and the variants' own.
``[cross]`` makes a variant of each combination of settings, to which variants of that name add theirs. ``imbalance =
10`` thins the classes of the pool and of what is scored, down to a tenth for the rarest. The result holds every run's
scores, and mean and population standard deviation per variant. Finished runs are kept: starting again goes on where a
stopped one was.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", type=Path)
    parser.add_argument("--data-dir", default=os.environ.get("JOINTMATCH_DATA"))
    parser.add_argument("--dataset", help="instead of the experiment's")
    parser.add_argument("--backbone", help="instead of the experiment's, such as a folder with the same weights")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--only", nargs="*", help="variants to run; all unless named")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no run after this long")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    experiment = tomllib.loads(args.experiment.read_text(encoding="utf-8"))
    experiment["dataset"] = args.dataset or experiment["dataset"]
    experiment["variants"] = variants_of(experiment.pop("cross", {}), experiment.get("variants", {}))
    target = args.output or RESULTS / f"{args.experiment.stem}.json"
    done = json.loads(target.read_text()) if target.exists() else {"runs": []}
    if done.get("experiment", experiment) != experiment:
        parser.error(f"{target} holds another experiment's runs: move it away, or name another --output.")
    known = {(r["variant"], r["seed"]) for r in done["runs"]}
    names = args.only or list(experiment["variants"])
    todo = [(v, s) for s in experiment["seeds"] for v in names if (v, s) not in known]
    start = time.monotonic()
    # Workers that share the cores must not each start a thread per core.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // args.jobs)))
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(args.jobs, mp_context=context) as pool:
        deadline = start + args.seconds
        futures = [pool.submit(one_run, experiment, v, s, args.data_dir, args.backbone, deadline) for v, s in todo]
        for future in as_completed(futures):
            if error := future.exception():  # the others go on, and starting again tries this one again
                print(f"failed: {error}", flush=True)
                continue
            run = future.result()
            if run is not None:
                done["runs"].append(run)
                save(target, experiment, done["runs"])
                test = run["scores"].get("test", {}).get("accuracy", float("nan"))
                dev = run["scores"].get("dev", {}).get("accuracy", float("nan"))
                print(f"{run['variant']:32} seed {run['seed']}  dev {dev:.4f}  test {test:.4f}", flush=True)
    show(done["runs"])


def variants_of(lists: dict[str, list[Any]], own: dict[str, Any]) -> dict[str, Any]:
    """One for each combination of values ({"algorithm.name": [...], "training.recipe": [...]}), and those named."""
    from jointmatch.config import merge
    from jointmatch.resolve import as_settings

    found: dict[str, Any] = {}
    for values in product(*lists.values()) if lists else []:
        pairs = dict(zip(lists, values, strict=True))
        found[", ".join(_called(key, value) for key, value in pairs.items())] = as_settings(pairs)
    return {
        name: merge(found.get(name, {}), own.get(name, {})) for name in [*found, *(n for n in own if n not in found)]
    }


def _called(key: str, value: Any) -> str:
    """Names stand for themselves; of other settings the key is said too."""
    return value if isinstance(value, str) else f"{key.partition('.')[2]} {value}"


def one_run(
    experiment: dict[str, Any], variant: str, seed: int, data_dir: str | None, backbone: str | None, deadline: float
) -> dict[str, Any] | None:
    """Train one variant with one seed; None if the time is up."""
    if time.monotonic() > deadline:
        return None
    from jointmatch.config import merge
    from jointmatch.data.datasets import load_benchmark
    from jointmatch.data.demo import demo_splits
    from jointmatch.run import run

    name, labels = experiment["dataset"], experiment["labels_per_class"]
    splits = demo_splits(labels, seed) if name == "demo" else load_benchmark(name, labels, seed, data_dir)
    if not experiment.get("test", True):  # a search must not even see it
        splits = replace(splits, test=None)
    if "imbalance" in experiment:
        splits = thinned(splits, experiment["imbalance"], seed)
    own: dict[str, dict[str, Any]] = {"training": {"seed": seed}, "network": {"backbone": backbone} if backbone else {}}
    settings = merge(experiment.get("settings", {}), experiment["variants"][variant], own)
    outcome = run(splits, settings)
    result = outcome.result
    kept = ("scores", "scores_of_last_step", "baselines", "steps", "kept_step", "termination", "seconds", "device")
    record = {key: result[key] for key in kept if key in result}
    for scores in record["scores"].values():
        del scores["confusion"], scores["per_class"]
    return {"variant": variant, "seed": seed, **record, "pseudo_labels": pseudo_labels(outcome.history)}


def pseudo_labels(history: list[dict[str, Any]]) -> dict[str, float]:
    """Share and accuracy between the last two evaluations at which there were any."""
    given = [record for record in history if record.get("pseudo_label_accuracy") is not None]
    return {"share": given[-1]["selected"], "accuracy": given[-1]["pseudo_label_accuracy"]} if given else {}


def thinned(splits: Any, imbalance: float, seed: int) -> Any:
    """Pool, dev and test keep the share imbalance^(-k/(K-1)) of class k of K; the seed draws the classes' order."""
    import numpy as np

    rng = np.random.default_rng(seed)
    ranks = rng.permutation(len(splits.classes))
    shares = imbalance ** (-ranks / (len(ranks) - 1))
    kept = {}
    for name in ("pool", "dev", "test"):
        part = getattr(splits, name)
        if part is not None:
            rows = np.flatnonzero(rng.random(len(part)) < shares[np.array(part.labels)])
            kept[name] = part.rows(rows.tolist())
    return replace(splits, **kept)


def save(target: Path, experiment: dict[str, Any], runs: list[dict[str, Any]]) -> None:
    """Write the result file whole."""
    import torch
    import transformers

    from jointmatch.files import write_json
    from jointmatch.version import __version__

    machine = {
        "device": runs[0]["device"],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "jointmatch": __version__,
    }
    order = sorted(runs, key=lambda r: (list(experiment["variants"]).index(r["variant"]), r["seed"]))
    write_json(target, {"experiment": experiment, "machine": machine, "summary": summarize(order), "runs": order})


def summarize(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Variant -> which weights -> part -> metric -> mean, spread, values; baselines once each."""
    from jointmatch.training.metrics import summary

    table: dict[str, Any] = {}
    by_variant: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        by_variant.setdefault(run["variant"], []).append(run)
    for variant, own in by_variant.items():
        for key in ("scores", "scores_of_last_step"):
            for part in own[0][key]:
                cell = table.setdefault(variant, {"seeds": [r["seed"] for r in own]}).setdefault(key, {})
                cell[part] = {m: summary([r[key][part][m] for r in own]) for m in ("accuracy", "macro_f1")}
        if all(run.get("pseudo_labels") for run in own):
            names = ("share", "accuracy")
            table[variant]["pseudo_labels"] = {m: summary([r["pseudo_labels"][m] for r in own]) for m in names}
        for baseline in own[0].get("baselines", {}):
            if baseline not in table:
                parts = own[0]["baselines"][baseline]
                scores = {
                    part: {m: summary([r["baselines"][baseline][part][m] for r in own]) for m in parts[part]}
                    for part in parts
                }
                table[baseline] = {"seeds": [r["seed"] for r in own], "scores": scores}
    return table


def show(runs: list[dict[str, Any]]) -> None:
    """Print the summary as a table, in percent."""
    for variant, row in summarize(runs).items():
        cells = []
        for key, title in (("scores", "chosen"), ("scores_of_last_step", "last")):
            for part, metrics in row.get(key, {}).items():
                accuracy = metrics["accuracy"]
                cells.append(f"{title} {part} {100 * accuracy['mean']:.2f} ± {100 * accuracy['std']:.2f}")
        print(f"{variant:32} " + "   ".join(cells) + f"   ({len(row['seeds'])} seeds)")


if __name__ == "__main__":
    main()
