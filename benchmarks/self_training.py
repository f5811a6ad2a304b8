"""scikit-learn's self-training on the features that the recipe reads: another plain way to use unlabelled texts.

    python benchmarks/self_training.py benchmarks/data_sets_lite.toml --dataset goemotions --data-dir FOLDER

Takes labels and seeds from an experiment file, so that both see the same draws.
"""

from __future__ import annotations

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
MOST_POOL_TEXTS = 5000  # refitting on all of a large pool takes minutes a round
THRESHOLD = 0.75  # scikit-learn's own


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", type=Path)
    parser.add_argument("--data-dir", default=os.environ.get("JOINTMATCH_DATA"))
    parser.add_argument("--dataset", required=True, help="one of the experiment's")
    parser.add_argument("--backbone", default="minilm")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    from jointmatch.benchmark import load

    experiment, name = load(args.experiment), args.dataset
    labels = experiment.data[name][0]
    work = [(name, labels, seed, args.data_dir, args.backbone) for seed in experiment.seeds]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        scores = list(pool.map(one_seed, *zip(*work, strict=True)))

    from jointmatch.files import write_json
    from jointmatch.training.metrics import summary

    table = {
        method: {metric: summary([s[method][metric] for s in scores]) for metric in ("accuracy", "macro_f1")}
        for method in scores[0]
    }
    facts = {"dataset": name, "labels_per_class": labels, "seeds": experiment.seeds}
    settings = {"threshold": THRESHOLD, "most_pool_texts": MOST_POOL_TEXTS, "part": "test"}
    write_json(args.output or RESULTS / f"self_training-{name}.json", {**facts, "settings": settings, "summary": table})
    for method, row in table.items():
        print(f"{name} {method}: {100 * row['accuracy']['mean']:.2f} ± {100 * row['accuracy']['std']:.2f}")


def one_seed(name: str, labels: int, seed: int, data_dir: str | None, backbone: str) -> dict[str, Any]:
    """Logistic regression alone and inside self-training, with the weaker and the stronger penalty; test scores."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    from jointmatch.assembly import Assembly
    from jointmatch.data.datasets import load_benchmark
    from jointmatch.resolve import resolve
    from jointmatch.training import Listener
    from jointmatch.training.baselines import Directions
    from jointmatch.training.metrics import brief

    splits = load_benchmark(name, labels, seed, data_dir)
    settings = {"network": {"backbone": backbone}, "training": {"seed": seed}}
    assembly = Assembly(splits, resolve(settings, "lite"), settings, Listener())
    features = assembly.features(assembly.frozen_encoder())
    heads = assembly.lite_learner(features).heads
    parts = {"labeled": features.labeled, "pool": features.weak, "test": features.parts["test"]}
    directions = Directions(features, heads)
    x = {part: directions(tensor) for part, tensor in parts.items()}
    length = float(np.linalg.norm(x["labeled"], axis=-1).mean())
    x = {part: values / length for part, values in x.items()}
    given, truth = np.array(splits.labeled.labels), np.array(splits.test.labels) if splits.test else np.empty(0)
    rows = np.random.default_rng(seed).permutation(len(x["pool"]))[:MOST_POOL_TEXTS]
    both = np.concatenate([x["labeled"], x["pool"][rows]])
    marked = np.concatenate([given, np.full(len(rows), -1)])
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for c in (1.0, 10.0):
            alone = LogisticRegression(C=c, max_iter=1000).fit(x["labeled"], given)
            taught = SelfTrainingClassifier(LogisticRegression(C=c, max_iter=200), threshold=THRESHOLD).fit(
                both, marked
            )
            found[f"logistic regression, C {c:g}"] = brief(alone.predict_proba(x["test"]), truth)
            found[f"self-training, C {c:g}"] = brief(taught.predict_proba(x["test"]), truth)
    return found


if __name__ == "__main__":
    main()
