"""What each choice in the word reader is worth, in mode lite, on dev.

    python -m benchmarks.word_reader --data-dir FOLDER
    python -m benchmarks.word_reader --data-dir OTHER --data sms_spam trec newsgroups

The heads of JointMatch under recipe best are trained once for each seed, to the last step. Beside them stand the reader
as it is; with one thing changed; taught from a part of the pool; alone; and rounds in which words and features teach
each other on, which is what would be done if the reader knew enough for that. Class shares are tried on two more pools:
one that lacks half of the classes while dev has all of them, and one whose rarest class, on dev too, has a tenth of the
commonest one's texts. A call adds its sets to the result file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from jointmatch import words
from jointmatch.assembly import Assembly
from jointmatch.benchmark import load
from jointmatch.benchmark.cell import Cell, cells_of
from jointmatch.benchmark.machines import machine
from jointmatch.benchmark.work import splits_of, thinned
from jointmatch.comparison import train_heads
from jointmatch.data import Splits
from jointmatch.files import write_json
from jointmatch.listener import Listener
from jointmatch.networks import find_device
from jointmatch.resolve import resolve
from jointmatch.training import FeatureSet, LiteLearner, Logistic
from jointmatch.training.metrics import calibration_error
from jointmatch.words import FEWEST_POOL_TEXTS, Lessons, WordReader

HERE = Path(__file__).parent
RESULT = HERE / "results" / "word_reader.json"
LABELS = 10
CHANGES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "half of each class": {"SUREST": 0.5},
    "all of each class": {"SUREST": 1.0},
    "given labels count once": {"LABELED": 1.0},
    "given labels count twenty times": {"LABELED": 20.0},
    "strength 1": {"STRENGTH": 1.0},
    "strength 10": {"STRENGTH": 10.0},
    "single words": {"PAIRS": 1},
}
SHARES: dict[str, dict[str, Any]] = {
    "class shares not at all": {"PRIOR_KEPT": 0.0},
    "class shares by half": {},
    "class shares in full": {"PRIOR_KEPT": 1.0},
}
POOLS_UNLIKE = ("lacking", "10 : 1")
POOLS = (250, 500, 1000, 2000, 5000)
ROUNDS = 3


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure some sets, and add them to the result file."""
    experiment = load(str(HERE / "search" / "lite_words.toml"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--backbone", default="auto")
    parser.add_argument("--data", nargs="+", default=["ag_news", "imdb", "hurricane", "goemotions"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--result", type=Path, default=RESULT)
    options = parser.parse_args(arguments)
    found: dict[str, Any] = json.loads(options.result.read_text()) if options.result.exists() else {"sets": {}}
    found |= {"machine": machine(find_device("cpu")), "labels": LABELS}
    for data in options.data:
        cells = cells_of(experiment, "networks and words", data, LABELS, options.backbone)[: options.seeds]
        rows = [_one_seed(cell, splits_of(cell, options.data_dir)) for cell in cells]
        found["sets"][data] = {name: [row[name] for row in rows] for name in rows[0]}
        write_json(options.result, found)
    return found


def _one_seed(cell: Cell, splits: Splits) -> dict[str, Any]:
    """What is asked -> accuracy on dev, beside it the calibration errors, the pool's size and seconds."""
    assembly = Assembly(splits, resolve(cell.asked, "lite"), cell.asked, Listener())
    features = assembly.features(assembly.frozen_encoder(), splits)
    learner = train_heads(features, assembly.lite_config(), len(splits.classes))
    pool, networks = (learner.predict_proba(features.parts[part]) for part in ("pool", "dev"))
    assert splits.dev is not None
    dev, truth, seed = splits.dev.texts, np.array(splits.dev.labels), cell.seed

    def right(probs: np.ndarray) -> float:
        return round(float((probs.argmax(-1) == truth).mean()), 5)

    def told(reader: WordReader) -> float:
        return right(reader.beside(networks, reader.words.rows(dev)))

    found: dict[str, Any] = {"networks alone": right(networks)}
    for name, change in (CHANGES | SHARES).items():
        with mock.patch.dict(vars(words), change):
            found[name] = told(_lessons(splits).taught(pool))
    start = time.perf_counter()
    lessons = _lessons(splits)
    reader = lessons.taught(pool)
    found |= {"texts": len(splits.pool), "words": len(reader.words.vocabulary), "seconds": time.perf_counter() - start}
    said = reader.probs(reader.words.rows(dev))
    found |= {"words alone": right(said), "arithmetic mean": right(networks + said)}
    both = reader.beside(networks, reader.words.rows(dev))
    found["calibration error, networks"] = round(calibration_error(networks, truth), 5)
    found["calibration error, both"] = round(calibration_error(both, truth), 5)
    for size in POOLS:
        if size < len(splits.pool):
            rows = np.random.default_rng(seed).choice(len(splits.pool), size, replace=False)
            found[f"{size} texts"] = told(_lessons(splits, rows).taught(pool[rows]))
    return found | _rounds(features, learner, lessons, reader, dev, right) | _on_pools_unlike(cell, splits)


def _on_pools_unlike(cell: Cell, splits: Splits) -> dict[str, float | None]:
    """What class shares are worth where the pool has others than the labels; None where too few texts are left."""
    found: dict[str, float | None] = {}
    for kind in POOLS_UNLIKE:
        own = _lacking(splits, cell.seed) if kind == "lacking" else thinned(splits, 10, cell.seed)
        names = ["networks alone", *SHARES]
        if len(own.pool) < FEWEST_POOL_TEXTS:
            found |= {f"{kind}: {name}": None for name in names}
            continue
        assembly = Assembly(own, resolve(cell.asked, "lite"), cell.asked, Listener())
        features = assembly.features(assembly.frozen_encoder(), own)
        learner = train_heads(features, assembly.lite_config(), len(own.classes))
        pool, networks = (learner.predict_proba(features.parts[part]) for part in ("pool", "dev"))
        assert own.dev is not None
        said = {"networks alone": networks}
        for name, change in SHARES.items():
            with mock.patch.dict(vars(words), change):
                reader = _lessons(own).taught(pool)
            said[name] = reader.beside(networks, reader.words.rows(own.dev.texts))
        truth = np.array(own.dev.labels)
        found |= {f"{kind}: {n}": round(float((said[n].argmax(-1) == truth).mean()), 5) for n in names}
    return found


def _lacking(splits: Splits, seed: int) -> Splits:
    """Half of the classes, drawn, are not in the pool."""
    classes = np.random.default_rng(seed).permutation(len(splits.classes))
    gone = set(classes[: len(classes) // 2].tolist())
    rows = [i for i, label in enumerate(splits.pool.labels) if label not in gone]
    return replace(splits, pool=splits.pool.rows(rows))


def _lessons(splits: Splits, rows: Sequence[int] | np.ndarray | None = None) -> Lessons:
    """Also from fewer texts than a run would take."""
    pool = splits.pool.texts if rows is None else [splits.pool.texts[i] for i in rows]
    with mock.patch.object(words, "FEWEST_POOL_TEXTS", 0):
        return Lessons(pool, splits.labeled.texts, splits.labeled.labels, len(splits.classes))


def _rounds(
    features: FeatureSet, learner: LiteLearner, lessons: Lessons, reader: WordReader, dev: Sequence[str], right: Any
) -> dict[str, float]:
    """Features are taught by words, words by these, and so on: both together after each round."""
    found = {}
    for number in range(1, ROUNDS + 1):
        taught = _features_taught(features, learner, reader.probs(lessons.pool), lessons.drawn)
        reader = lessons.taught(taught.predict_proba(features.parts["pool"]))
        networks = taught.predict_proba(features.parts["dev"])
        found[f"round {number}"] = right(reader.beside(networks, reader.words.rows(dev)))
    return found


def _features_taught(features: FeatureSet, learner: LiteLearner, said: np.ndarray, drawn: np.ndarray) -> Logistic:
    surest = words._surest(said)
    texts = torch.cat([features.weak[:, drawn[surest]], features.labeled], dim=1)
    labels = torch.cat([torch.from_numpy(said.argmax(-1)[surest]), features.labels])
    return Logistic(replace(features, labeled=texts, labels=labels), learner.heads)


if __name__ == "__main__":
    main()
