"""Three clusters of features that heads can learn at once, and a tiny whole run."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from jointmatch.algorithms import ALGORITHMS, build
from jointmatch.config import TrainingConfig, merge
from jointmatch.data import Splits, Texts
from jointmatch.networks import Heads, HeadShape
from jointmatch.run import Outcome, run
from jointmatch.training import FeatureSet, Listener, LiteLearner, Loop, Updater
from jointmatch.types import Task
from tests.conftest import topic_texts

CLASSES, WIDTH = 3, 4
SMALL = {"steps": 6, "batch_size": 4, "mu": 2, "learning_rate": 0.05, "label_dropout": False, "evaluate_every": 2}


def cluster(count: int, seed: int, networks: int = 2) -> Tensor:
    """(N, count, D): row i lies near corner i mod 3."""
    noise = torch.randn(networks, count, WIDTH, generator=torch.Generator().manual_seed(seed))
    return 3 * torch.eye(CLASSES, WIDTH)[torch.arange(count) % CLASSES] + noise


def toy_features(networks: int = 2, pool: int = 24, labeled: int = 6, seed: int = 0) -> FeatureSet:
    weak = cluster(pool, seed + 1, networks)
    strong = weak + 0.1 * cluster(pool, seed + 2, networks)
    parts = {"dev": cluster(9, seed + 3, networks), "pool": weak}
    return FeatureSet(cluster(labeled, seed, networks), torch.arange(labeled) % CLASSES, weak, [strong], parts)


def toy_learner(
    dropout: float = 0.0, networks: int = 2, features: FeatureSet | None = None, extra: int = 0, seed: int = 0
) -> LiteLearner:
    heads = Heads(HeadShape(WIDTH, CLASSES, dropout=dropout, extra=extra), networks, seed)
    return LiteLearner(features or toy_features(networks), heads)


def toy_updater(
    algorithm: str = "jointmatch",
    learner: LiteLearner | None = None,
    listener: Listener | None = None,
    settings: dict[str, Any] | None = None,
    **training: Any,
) -> Updater:
    learner = learner or toy_learner(extra=ALGORITHMS[algorithm].extra_classes)
    task = Task(CLASSES, learner.num_networks, learner.pool_size)
    rule = build(algorithm, task, settings or {})
    truth = torch.arange(learner.pool_size) % CLASSES
    return Updater(learner, rule, TrainingConfig(**{**SMALL, **training}), truth, listener or Listener())


def weights(module: torch.nn.Module) -> Tensor:
    """Every parameter in one vector."""
    return torch.cat([p.detach().flatten() for p in module.parameters()]).clone()


class Recorder(Listener):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.stages: list[tuple[str, int | None]] = []
        self.steps = 0

    def note(self, text: str) -> None:
        self.notes.append(text)

    def stage(self, name: str, total: int | None) -> None:
        self.stages.append((name, total))
        self.steps = 0

    def advance(self, amount: int = 1, **metrics: float) -> None:
        self.steps += amount


class StopAt(Recorder):
    """Presses Ctrl-C during a training step."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.wanted = step

    def advance(self, amount: int = 1, **metrics: float) -> None:
        super().advance(amount)
        if self.stages[-1][0] == "training" and self.steps == self.wanted:
            os.kill(os.getpid(), signal.SIGINT)


def topic_splits(dev: bool = True) -> Splits:
    texts, topics = topic_texts(45)
    classes = sorted(set(topics))
    part = [
        Texts(texts[a:b], [classes.index(t) for t in topics[a:b]]) for a, b in ((0, 6), (6, 30), (30, 39), (39, 45))
    ]
    return Splits(list(classes), part[0], part[1], part[2] if dev else None, part[3])


def tiny_run(
    backbone: Path,
    settings: dict[str, dict[str, Any]],
    folder: Path | None = None,
    listener: Listener | None = None,
    resume: bool = False,
    dev: bool = True,
) -> Outcome:
    base: dict[str, dict[str, Any]] = {
        "training": {"steps": 6, "evaluate_every": 2, "device": "cpu", "warm_start": False, "batch_size": 4, "mu": 2},
        "network": {"backbone": str(backbone), "max_length": 16},
        "output": {"baselines": False},
    }
    return run(topic_splits(dev), merge(base, settings), folder, listener, resume)


def same_state(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    first, second = a.state_dict(), b.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def run_until(loop: Loop, stop: int) -> None:
    """Train a loop's first steps, and leave it there as a killed run would."""
    for number in range(stop):
        loop.updater.step(number)
        loop.progress.step += 1
        loop._after_step()
