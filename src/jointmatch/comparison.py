"""Baselines to beat: supervised heads, logistic regression and label spreading on the same features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from jointmatch import algorithms
from jointmatch.config import AlgorithmConfig, Config
from jointmatch.data import UNLABELED
from jointmatch.training import FeatureSet, Listener, LiteLearner, Logistic, Loop, Spreading, Updater, build_heads
from jointmatch.training.metrics import brief
from jointmatch.types import CROSS_VALIDATION, NETWORKS_ALONE, Task, balance_of
from jointmatch.words import Lessons, harm

Classifier = Callable[[Tensor], np.ndarray]
"""Features (N, M, D) to probabilities (M, C)."""


class Compared(NamedTuple):
    """Scores by method, and part -> method -> whether it was right about each text (M,)."""

    scores: dict[str, Any]
    right: dict[str, dict[str, np.ndarray]]


class Untrained(NamedTuple):
    """Untrained heads and the loop that trains them."""

    learner: LiteLearner
    loop: Loop


def train_heads(features: FeatureSet, config: Config, num_classes: int) -> LiteLearner:
    """Train heads on features without showing or recording anything, for baselines and folds."""
    heads = untrained_heads(features, config, num_classes)
    heads.loop.run()
    return heads.learner


def untrained_heads(features: FeatureSet, config: Config, num_classes: int) -> Untrained:
    """Set up the same heads and their training loop, without running it."""
    extra = algorithms.ALGORITHMS[config.algorithm.name].extra_classes
    heads = build_heads(features, config.network, num_classes, config.training.seed, extra)
    learner = LiteLearner(features, heads)
    balance = balance_of(features.labels.tolist(), num_classes)
    seed, scale = config.training.seed, config.network.cosine_scale
    task = Task(num_classes, learner.num_networks, learner.pool_size, balance, seed, scale)
    algorithm = algorithms.build(config.algorithm.name, task, config.algorithm.settings).to(learner.device)
    unknown = torch.full((learner.pool_size,), UNLABELED)
    return Untrained(learner, Loop(Updater(learner, algorithm, config.training, unknown, Listener()), Listener()))


class Comparison:
    """The baselines of one run.

    Args:
        features: Frozen features of all parts.
        config: Lite settings; the supervised heads take their budget from it.
        num_classes: C.
        listener: Receives progress over the folds.
        lessons: What the word reader learns from in each fold, if the run has one.
    """

    def __init__(
        self,
        features: FeatureSet,
        config: Config,
        num_classes: int,
        listener: Listener,
        lessons: Lessons | None = None,
    ) -> None:
        self.features, self.config, self.num_classes, self.listener = features, config, num_classes, listener
        self.lessons = lessons

    def scores(self, truths: Mapping[str, np.ndarray]) -> Compared:
        """Baseline -> part -> accuracy and macro-F1, for parts whose labels are given."""
        probs = {
            name: {part: classify(self.features.parts[part]) for part in truths}
            for name, classify in self._baselines(self.features).items()
        }
        scores = {name: {part: brief(own[part], y) for part, y in truths.items()} for name, own in probs.items()}
        right = {part: {name: own[part].argmax(-1) == y for name, own in probs.items()} for part, y in truths.items()}
        return Compared(scores, right)

    def cross_validate(self, folds: int) -> Compared:
        """Return the accuracy of the baselines and the algorithm itself on labelled texts held out in turn."""
        labels = self.features.labels.cpu().numpy()
        sizes = np.bincount(labels)
        # A class's only example is never left out: nothing could learn the class without it.
        testable = np.flatnonzero(sizes[labels] > 1)
        if folds < 2:
            return Compared({}, {})  # none requested
        folds = int(min(folds, sizes.max()))
        if folds < 2:
            self.listener.note(
                "One labelled text per class is too few to cross-validate, so there is no score to show."
            )
            return Compared({}, {})
        right: dict[str, np.ndarray] = {}
        self.listener.stage(CROSS_VALIDATION, folds)
        for rows in self._left_out(testable, labels[testable], folds):
            fold = self.features.fold(torch.as_tensor(rows, device=self.features.labels.device))
            probs = {name: classify(fold.parts["held_out"]) for name, classify in self._baselines(fold).items()}
            for name, of_rows in (probs | self._own(fold, rows)).items():
                right.setdefault(name, np.zeros(len(labels), bool))[rows] = of_rows.argmax(-1) == labels[rows]
            self.listener.advance()
        self.listener.done()
        right = {name: hits[testable] for name, hits in right.items()}
        if NETWORKS_ALONE in right:
            problem = harm(right[NETWORKS_ALONE], right[self.config.algorithm.name], f"in {CROSS_VALIDATION}")
            if problem:
                self.listener.warn(problem)
        return Compared({name: _rate(hits) for name, hits in right.items()}, {CROSS_VALIDATION: right})

    def _own(self, fold: FeatureSet, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The algorithm's probabilities for the held-out rows, from models that have not seen their labels."""
        learner = train_heads(fold, self.config, self.num_classes)
        alone, name = learner.predict_proba(fold.parts["held_out"]), self.config.algorithm.name
        if self.lessons is None:
            return {name: alone}
        reader = self.lessons.taught(learner.predict_proba(fold.parts["pool"]), without=rows)
        return {NETWORKS_ALONE: alone, name: reader.beside(alone, self.lessons.labeled[rows])}

    def _left_out(self, rows: np.ndarray, labels: np.ndarray, folds: int) -> Iterator[np.ndarray]:
        from sklearn.model_selection import StratifiedKFold

        splitter = StratifiedKFold(folds, shuffle=True, random_state=self.config.training.seed)
        with warnings.catch_warnings():  # classes smaller than the number of folds are reported elsewhere
            warnings.simplefilter("ignore")
            yield from (rows[chosen] for _, chosen in splitter.split(labels, labels))

    def _baselines(self, features: FeatureSet) -> dict[str, Classifier]:
        supervised = replace(self.config, algorithm=AlgorithmConfig("supervised"))
        learner = train_heads(features, supervised, self.num_classes)
        spreading = Spreading(features, learner.heads, self.config.training.seed)
        return {
            "supervised": learner.predict_proba,
            "logistic_regression": Logistic(features, learner.heads).predict_proba,
            "label_spreading": spreading.predict_proba,
        }


def _rate(hits: np.ndarray) -> dict[str, Any]:
    share = float(np.mean(hits))
    error = float(np.sqrt(share * (1 - share) / len(hits)))
    return {"accuracy": share, "standard_error": error, "n": len(hits)}
