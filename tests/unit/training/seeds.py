"""Seeds over data of their own, side by side and alone, and whether they end alike."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from jointmatch.config import merge
from jointmatch.data import Splits, Texts
from jointmatch.listener import Listener
from jointmatch.run import Outcome, run, run_seeds
from tests.conftest import topic_texts

Settings = dict[str, dict[str, Any]]
SEEDS = (0, 1, 2)
TEXTS = ["a banana and a plum", "old iron"]


def splits_of(seed: int) -> Splits:
    """Other texts for every seed, and other numbers of them."""
    texts, topics = topic_texts(60, seed=seed)
    classes = sorted(set(topics))
    cuts = (0, 6 + 3 * seed, 30 + 5 * seed, 50, 60)
    parts = [Texts(texts[a:b], [classes.index(t) for t in topics[a:b]]) for a, b in pairwise(cuts)]
    return Splits(list(classes), parts[0], parts[1], parts[2], parts[3])


def settings_for(backbone: Path, mode: str, own: Settings) -> Settings:
    training = {"mode": mode, "steps": 3, "evaluate_every": 2, "batch_size": 4, "mu": 2, "device": "cpu"}
    training["precision"] = "fp32"  # whose rounding is small enough to tell a mistake by
    rate = {"learning_rate": 1e-3 if mode == "full" else 1e-2}
    base: Settings = {
        "training": {**training, **rate, "warm_start": False},
        "network": {
            "backbone": str(backbone),
            "max_length": 16,
            "stacked": "on",
            "head_dropout": 0.2,
            "freeze_embeddings": False,
        },
        "augment": {"weak": "none", "strong": ["deletion:0.2", "swap:0.2"]},
        "output": {"baselines": False},
    }
    return merge(base, own)


def together(
    settings: Settings,
    folder: Path | None = None,
    listener: Listener | None = None,
    resume: bool = False,
    seeds: tuple[int, ...] = SEEDS,
) -> list[Outcome]:
    folders = [folder / f"seed-{seed}" for seed in seeds] if folder else None
    return run_seeds([splits_of(seed) for seed in seeds], settings, seeds, folders, listener, resume)


def alone(settings: Settings, seed: int) -> Outcome:
    return run(splits_of(seed), merge(settings, {"training": {"seed": seed}}))


def assert_alike(found: Outcome, wanted: Outcome) -> None:
    """To rounding, in everything that the two say and hold."""
    kept = ("seed", "steps", "kept_step", "termination", "selection", "labelled", "unlabelled")
    assert {key: found.result[key] for key in kept} == {key: wanted.result[key] for key in kept}
    for one, other in zip(found.history, wanted.history, strict=True):
        assert one.keys() == other.keys()
        for key, value in other.items():
            if key in ("step", "dev_accuracy", "selected"):
                assert one[key] == value, key
            elif key in ("loss", "agreement", "dev_macro_f1", "pseudo_label_accuracy"):
                assert one[key] == pytest.approx(value, rel=1e-4, abs=1e-5), key
    states = found.model.networks.state_dict(), wanted.model.networks.state_dict()
    assert states[0].keys() == states[1].keys()
    for name, value in states[1].items():
        torch.testing.assert_close(states[0][name], value, atol=2e-4, rtol=1e-3, msg=name)
    np.testing.assert_allclose(found.model.network_probs(TEXTS), wanted.model.network_probs(TEXTS), atol=1e-4)


def assert_as_alone(settings: Settings, selects: bool = True) -> list[Outcome]:
    """Each seed side by side ends as that seed alone; ``selects`` where pseudo-labels must have been learnt from."""
    found = together(settings)
    assert not selects or all(any(record.get("selected") for record in own.history) for own in found)
    assert [own.result["side_by_side"] for own in found] == [3, 3, 3]
    for seed, own in zip(SEEDS, found, strict=True):
        assert_alike(own, alone(settings, seed))
    return found
