"""The whole job, data to model folder: what the command line, the estimator and the benchmarks call."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from jointmatch import algorithms
from jointmatch.assembly import Assembly
from jointmatch.augment import Surroundings
from jointmatch.comparison import Comparison
from jointmatch.config import AlgorithmConfig, AugmentConfig, Config
from jointmatch.data import Splits
from jointmatch.model import Model, ModelFacts
from jointmatch.networks import Encoder, Networks, find_backbone
from jointmatch.record import RunFolder
from jointmatch.resolve import choose_mode, resolve
from jointmatch.training import (
    Checkpointing,
    FeatureSet,
    FullLearner,
    Learner,
    Listener,
    LiteLearner,
    Loop,
    Trained,
    Updater,
    ready_views,
)
from jointmatch.training.checkpoints import check_identity, read_facts
from jointmatch.training.metrics import full_metrics
from jointmatch.version import __version__


@dataclass(frozen=True)
class Outcome:
    """What a run gives back."""

    model: Model
    config: Config
    history: list[dict[str, Any]]
    result: dict[str, Any]


def run(
    splits: Splits,
    settings: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    listener: Listener | None = None,
    resume: bool = False,
) -> Outcome:
    """Train on splits under partial settings and, with a folder, record everything there.

    Args:
        splits: Labelled texts, pool, and dev and test where there are any.
        settings: Section -> key -> value, laid over the recipe; see ``jointmatch.config``.
        folder: Run folder, already claimed; None keeps everything in memory.
        listener: Hears of notes, progress and evaluations.
        resume: Go on from the folder's checkpoint if it has one.
    """
    return _Job(splits, settings or {}, folder, listener or Listener(), resume).run()


class _Job:
    """One run; its methods are the stages in order."""

    def __init__(
        self,
        splits: Splits,
        settings: Mapping[str, Any],
        folder: str | Path | None,
        listener: Listener,
        resume: bool,
    ) -> None:
        self.splits, self.listener, self.resume = splits, listener, resume
        self.folder = RunFolder(folder) if folder is not None else None
        self.warnings: list[str] = []
        self.seconds: dict[str, float] = {}
        mode, reason = choose_mode(settings, len(splits.pool))
        self.config = self._ready(self._without_pool(resolve(settings, mode)))
        self.assembly = Assembly(splits, self.config, settings, listener)
        self.algorithm = self.assembly.algorithm()  # before anything is computed: settings may not fit the data
        labelled_parts = {"dev": splits.dev, "test": splits.test}
        self.truths = {name: np.array(part.labels) for name, part in labelled_parts.items() if part is not None}
        self._announce(mode, reason)

    def _without_pool(self, config: Config) -> Config:
        algorithm = algorithms.ALGORITHMS[config.algorithm.name]
        if len(self.splits.pool) or not algorithm.uses_unlabeled:
            return config
        self._warn(f"No unlabelled texts: {config.algorithm.name} cannot learn from any, trained supervised.")
        count = config.network.count or algorithm.networks
        return replace(config, algorithm=AlgorithmConfig("supervised"), network=replace(config.network, count=count))

    def _ready(self, config: Config) -> Config:
        backbone = find_backbone(config.network.backbone)
        augment, notes = ready_views(self._wanted(config.augment), Surroundings(backbone=backbone.source))
        for note in notes:
            self._warn(note)
        return replace(config, augment=augment)

    def _wanted(self, augment: AugmentConfig) -> AugmentConfig:
        """Without what the user's own columns of views stand in for: its resource need not be here."""
        pool, labeled = self.splits.pool, self.splits.labeled
        if pool.weak is not None and labeled.weak is not None:
            augment = replace(augment, weak="none", weak_per_network=None)
        if pool.strong is not None:
            augment = replace(augment, strong=("none",), strong_per_network=None)
        return augment

    def _warn(self, text: str) -> None:
        """Say what the user should know of the data, and keep it for the record."""
        self.warnings.append(text)
        self.listener.warn(text)

    def _announce(self, mode: str, reason: str) -> None:
        sizes = f"{len(self.splits.labeled)} labelled and {len(self.splits.pool)} unlabelled texts"
        columns = self.splits.text_column, self.splits.label_column
        where = " (texts from {!r}, labels from {!r})".format(*columns) if all(columns) else ""
        self.listener.note(f"{sizes}, {len(self.splits.classes)} classes{where}.")
        for note in self.splits.notes:
            self._warn(note)
        config, parts = self.config, self.assembly
        views = parts.views.told(config.data.weak_column, config.data.strong_column)
        self.listener.note(
            f"Training {config.algorithm.name} (recipe {config.training.recipe}) in mode {mode} ({reason}); "
            f"{parts.num_networks} network(s) over {parts.backbone.name} on {parts.device.type}; views: {views}."
        )

    def run(self) -> Outcome:
        if self.folder:
            if self._will_resume():
                check_identity(self.folder.checkpoint, read_facts(self.folder.checkpoint), self._identity())
            self.folder.write_config(self.config)
        features = encoder = None
        if self.config.training.mode == "lite" or self.config.training.warm_start or self.config.output.baselines:
            encoder = self.assembly.frozen_encoder()
            features = self._timed("features", lambda: self.assembly.features(encoder))
        learner, trained = self._timed("training", lambda: self._train(features))
        model = self._model(learner, encoder, trained)
        result = self._result(learner, trained, model)
        if self.config.output.baselines and features is not None:
            result |= self._timed("baselines", lambda: self._comparison(features))
        result["seconds"] = {name: round(value, 3) for name, value in self.seconds.items()}
        if self.folder:
            problem = self.folder.write_pseudo_labels(self.splits, self._probs(learner, "pool"))
            if problem:
                self.listener.note(problem)
            model.save(self.folder.model)
            self.folder.write_result(result)
        return Outcome(model, self.config, trained.history, result)

    def _timed(self, name: str, stage: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        value = stage()
        self.seconds[name] = time.perf_counter() - start
        return value

    def _train(self, features: FeatureSet | None) -> tuple[Learner, Trained]:
        learner: Learner
        if self.config.training.mode == "lite":
            assert features is not None
            learner = self.assembly.lite_learner(features)
        else:
            warm_start = self.config.training.warm_start and not self._will_resume()
            learner = self.assembly.full_learner(features, warm_start)
        truth = torch.tensor(self.splits.pool.labels, dtype=torch.long)
        updater = Updater(learner, self.algorithm, self.config.training, truth, self.listener)
        loop = Loop(updater, self.listener, self.truths, self._checkpointing(), self._keep_history)
        if self.resume and loop.load():
            self.listener.note(f"Resumed after step {loop.progress.step}.")
        return learner, loop.run()

    def _keep_history(self, history: list[dict[str, Any]]) -> None:
        if self.folder:
            self.folder.write_history(history)

    def _checkpointing(self) -> Checkpointing | None:
        if self.folder is None:
            return None
        every = self.config.output.checkpoint_every
        if every is None:
            every = 25 if self.config.training.mode == "lite" else 200  # heads are a few KB, networks a GB
        return Checkpointing(self.folder.checkpoint, every, self._identity())

    def _will_resume(self) -> bool:
        return self.resume and self.folder is not None and self.folder.checkpoint.exists()

    def _identity(self) -> str:
        """A digest of the settings and the data that a checkpoint belongs to."""
        settings = {name: values for name, values in self.config.to_dict().items() if name != "output"}
        parts: list[Any] = [settings, self.splits.classes, self.assembly.backbone.fingerprint()]
        if self.assembly.wants_stack:  # the optimiser's state has another form
            parts.append("stacked")
        for part in (self.splits.labeled, self.splits.pool, self.splits.dev):
            parts.append([part.texts, part.labels, part.weak, part.strong] if part else None)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _model(self, learner: Learner, encoder: Encoder | None, trained: Trained) -> Model:
        if isinstance(learner, FullLearner):
            networks = learner.model.apart()
        else:
            assert isinstance(learner, LiteLearner)
            assert encoder is not None
            networks = Networks([encoder], learner.heads)
        networks.heads.drop_extra()
        training, parts = self.config.training, self.assembly
        facts = ModelFacts(
            classes=list(self.splits.classes),
            algorithm=self.config.algorithm.name,
            recipe=training.recipe,
            mode=training.mode,
            backbone=parts.backbone.name,
            fingerprint=parts.backbone.fingerprint(),
            layers=parts.layers,
            pooling=self.config.network.pooling,
            max_length=parts.tokenizer.max_length,
            head=dict(vars(networks.heads.shape)),
            selection=trained.selection,
            steps=trained.best_step,
            seed=training.seed,
            text_column=self.splits.text_column,
            version=__version__,
            settings=dict(self.config.algorithm.settings),
        )
        return Model(networks, parts.tokenizer, parts.backbone, facts)

    def _probs(self, learner: Learner, part: str) -> np.ndarray:
        if part == "pool" and not len(self.splits.pool):
            return np.empty((learner.num_networks, 0, len(self.splits.classes)))
        with torch.no_grad():
            return learner.part_logits(learner.networks, part).double().softmax(-1).numpy()

    def _result(self, learner: Learner, trained: Trained, model: Model) -> dict[str, Any]:
        scores = {
            part: full_metrics(self._probs(learner, part).mean(0), truth, self.splits.classes)
            for part, truth in self.truths.items()
        }
        model.metrics = scores
        device = self.assembly.device
        return {
            "version": __version__,
            "algorithm": self.config.algorithm.name,
            "recipe": self.config.training.recipe,
            "mode": self.config.training.mode,
            "backbone": self.assembly.backbone.name,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            "seed": self.config.training.seed,
            "classes": self.splits.classes,
            "labelled": len(self.splits.labeled),
            "unlabelled": len(self.splits.pool),
            "data": self.splits.counts,
            "conflicts": self.splits.conflicts,
            "warnings": self.warnings,
            "steps": trained.steps,
            "kept_step": trained.best_step,
            "termination": trained.termination,
            "selection": trained.selection,
            "scores": scores,
            "scores_of_last_step": trained.last,
        }

    def _comparison(self, features: FeatureSet) -> dict[str, Any]:
        """What the result is shown beside: scores where labels are, else a cross-validation."""
        comparison = Comparison(features, self.assembly.lite_config(), len(self.splits.classes), self.listener)
        if self.truths:
            return {"baselines": comparison.scores(self.truths)}
        return {"cross_validation": comparison.cross_validate(self.config.output.folds)}
