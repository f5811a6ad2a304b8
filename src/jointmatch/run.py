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
from jointmatch.comparison import Comparison, train_heads
from jointmatch.config import AlgorithmConfig, Config
from jointmatch.data import Splits, Texts
from jointmatch.model import Model, ModelFacts
from jointmatch.networks import (
    Encoder,
    Heads,
    Networks,
    Tokenizer,
    find_backbone,
    find_device,
    load_tokenizer,
    load_transformer,
)
from jointmatch.record import RunFolder
from jointmatch.resolve import choose_mode, resolve
from jointmatch.training import (
    FeatureSet,
    FullLearner,
    Learner,
    Listener,
    LiteLearner,
    Loop,
    Trained,
    Updater,
    Views,
    autocast_dtype,
    build_heads,
    extract_features,
)
from jointmatch.training.checkpoints import check_identity, read_facts
from jointmatch.training.metrics import full_metrics
from jointmatch.types import Task
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
        self.splits, self.settings, self.listener, self.resume = splits, settings, listener, resume
        self.folder = RunFolder(folder) if folder is not None else None
        self.warnings: list[str] = []
        mode, reason = choose_mode(settings, len(splits.pool))
        self.config = self._without_pool(resolve(settings, mode))
        self.device = find_device(self.config.training.device)
        self.backbone = find_backbone(self.config.network.backbone)
        self.tokenizer = Tokenizer(load_tokenizer(self.backbone), self.config.network.max_length)
        wanted = algorithms.ALGORITHMS[self.config.algorithm.name].networks
        self.num_networks = self.config.network.count or wanted
        self.views = Views(self.config.augment, self.tokenizer.mask_token, self.config.training.seed)
        layers = self.config.network.layers
        self.layers = [layers[i % len(layers)] for i in range(self.num_networks)]
        self.seconds: dict[str, float] = {}
        self._announce(mode, reason)

    def _without_pool(self, config: Config) -> Config:
        algorithm = algorithms.ALGORITHMS[config.algorithm.name]
        if len(self.splits.pool) or not algorithm.uses_unlabeled:
            return config
        self._warn(f"No unlabelled texts: {config.algorithm.name} cannot learn from any, trained supervised.")
        count = config.network.count or algorithm.networks
        return replace(config, algorithm=AlgorithmConfig("supervised"), network=replace(config.network, count=count))

    def _warn(self, text: str) -> None:
        """Say what the user should know of the data, and keep it for the record."""
        self.warnings.append(text)
        self.listener.note(text)

    def _announce(self, mode: str, reason: str) -> None:
        sizes = f"{len(self.splits.labeled)} labelled and {len(self.splits.pool)} unlabelled texts"
        columns = self.splits.text_column, self.splits.label_column
        where = " (texts from {!r}, labels from {!r})".format(*columns) if all(columns) else ""
        self.listener.note(f"{sizes}, {len(self.splits.classes)} classes{where}.")
        for note in self.splits.notes:
            self._warn(note)
        config = self.config
        self.listener.note(
            f"Training {config.algorithm.name} (recipe {config.training.recipe}) in mode {mode} ({reason}); "
            f"{self.num_networks} network(s) over {self.backbone.name} on {self.device.type}; views: {self.views}."
        )

    def run(self) -> Outcome:
        if self.folder:
            if self._will_resume():
                check_identity(self.folder.checkpoint, read_facts(self.folder.checkpoint), self._identity())
            self.folder.write_config(self.config)
        features = encoder = None
        if self.config.training.mode == "lite" or self.config.training.warm_start or self.config.output.baselines:
            encoder = self._encoder(self.layers)
            features = self._timed("features", lambda: self._features(encoder, self.splits))
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

    def _encoder(self, layers: list[float]) -> Encoder:
        return Encoder(load_transformer(self.backbone), layers, self.config.network.pooling)

    def _features(self, encoder: Encoder, splits: Splits) -> FeatureSet:
        return extract_features(splits, self.views, encoder, self.backbone, self.tokenizer, self.device, self.listener)

    def _train(self, features: FeatureSet | None) -> tuple[Learner, Trained]:
        if self.config.training.mode == "lite":
            assert features is not None
            lite = LiteLearner(features, self._heads(features))
            return lite, self._loop(lite).run()
        full = self._full_learner(features)
        return full, self._loop(full).run()

    def _heads(self, features: FeatureSet) -> Heads:
        return build_heads(features, self.config.network, len(self.splits.classes), self.config.training.seed)

    def _full_learner(self, features: FeatureSet | None) -> FullLearner:
        encoders = [self._encoder([layer]) for layer in self.layers]
        if self.config.network.freeze_embeddings:
            for encoder in encoders:
                encoder.freeze_embeddings()
        if features is None:
            features = self._labeled_features()
        if self.config.training.warm_start and not self._will_resume():
            self.listener.note("Warm start: heads are first trained on frozen features.")
            heads = train_heads(features, self._lite_config(), len(self.splits.classes), self._pool_truth()).heads
        else:
            heads = self._heads(features)
        dtype = autocast_dtype(self.device, self.config.training.precision)
        networks = Networks(encoders, heads)
        return FullLearner(self.splits, networks, self.tokenizer, self.views, self.device, dtype)

    def _labeled_features(self) -> FeatureSet:
        """Features of the labelled texts alone: enough to centre and start heads."""
        only_labeled = replace(self.splits, pool=self.splits.pool.rows([]), dev=None, test=None)
        return self._features(self._encoder(self.layers), only_labeled)

    def _lite_config(self) -> Config:
        """The same recipe's lite settings and the user's own of the algorithm, with heads that fit this run's."""
        kept = {
            "algorithm": {**self.settings.get("algorithm", {}), "name": self.config.algorithm.name},
            "network": {"backbone": self.config.network.backbone},
            "training": {"recipe": self.config.training.recipe, "seed": self.config.training.seed},
        }
        lite = resolve(kept, "lite")
        return replace(lite, network=self.config.network)

    def _will_resume(self) -> bool:
        return self.resume and self.folder is not None and self.folder.checkpoint.exists()

    def _algorithm(self) -> algorithms.Algorithm:
        task = Task(len(self.splits.classes), self.num_networks, len(self.splits.pool))
        own = self.config.algorithm
        return algorithms.build(own.name, task, own.settings).to(self.device)

    def _loop(self, learner: Learner) -> Loop:
        config = self.config
        updater = Updater(learner, self._algorithm(), config.training, self._pool_truth(), self.listener)
        dev, test = (np.array(p.labels) if p is not None else None for p in (self.splits.dev, self.splits.test))
        loop = Loop(
            updater,
            config.training,
            dev,
            self.listener,
            self.folder.checkpoint if self.folder else None,
            self._checkpoint_every(),
            self._identity(),
            self.folder.write_history if self.folder else lambda history: None,
            test,
        )
        if self.resume and loop.load():
            self.listener.note(f"Resumed after step {loop.progress.step}.")
        return loop

    def _checkpoint_every(self) -> int:
        asked = self.config.output.checkpoint_every
        if asked is not None:
            return asked
        return 25 if self.config.training.mode == "lite" else 200  # heads are a few KB, networks a GB

    def _identity(self) -> str:
        """A digest of the settings and the data that a checkpoint belongs to."""
        settings = {name: values for name, values in self.config.to_dict().items() if name != "output"}
        parts: list[Any] = [settings, self.splits.classes, self.backbone.fingerprint()]
        for part in (self.splits.labeled, self.splits.pool, self.splits.dev):
            parts.append([part.texts, part.labels, part.weak, part.strong] if part else None)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _model(self, learner: Learner, encoder: Encoder | None, trained: Trained) -> Model:
        if isinstance(learner, FullLearner):
            networks = learner.model
        else:
            assert isinstance(learner, LiteLearner)
            assert encoder is not None
            networks = Networks([encoder], learner.heads)
        network, training = self.config.network, self.config.training
        facts = ModelFacts(
            classes=list(self.splits.classes),
            algorithm=self.config.algorithm.name,
            recipe=training.recipe,
            mode=training.mode,
            backbone=self.backbone.name,
            fingerprint=self.backbone.fingerprint(),
            layers=self.layers,
            pooling=network.pooling,
            max_length=self.tokenizer.max_length,
            head=dict(vars(networks.heads.shape)),
            selection=trained.selection,
            steps=trained.best_step,
            seed=training.seed,
            text_column=self.splits.text_column,
            version=__version__,
            settings=dict(self.config.algorithm.settings),
        )
        return Model(networks, self.tokenizer, self.backbone, facts)

    def _probs(self, learner: Learner, part: str) -> np.ndarray:
        if part == "pool" and not len(self.splits.pool):
            return np.empty((self.num_networks, 0, len(self.splits.classes)))
        with torch.no_grad():
            return learner.part_logits(learner.networks, part).double().softmax(-1).numpy()

    def _labelled_parts(self) -> dict[str, Texts]:
        parts = {"dev": self.splits.dev, "test": self.splits.test}
        return {name: part for name, part in parts.items() if part is not None}

    def _pool_truth(self) -> torch.Tensor:
        return torch.tensor(self.splits.pool.labels, dtype=torch.long)

    def _result(self, learner: Learner, trained: Trained, model: Model) -> dict[str, Any]:
        scores = {
            part: full_metrics(self._probs(learner, part).mean(0), np.array(texts.labels), self.splits.classes)
            for part, texts in self._labelled_parts().items()
        }
        model.metrics = scores
        return {
            "version": __version__,
            "algorithm": self.config.algorithm.name,
            "recipe": self.config.training.recipe,
            "mode": self.config.training.mode,
            "backbone": self.backbone.name,
            "device": torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "cpu",
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
        lite = self._lite_config() if self.config.training.mode == "full" else self.config
        comparison = Comparison(features, lite, len(self.splits.classes), self._pool_truth(), self.listener)
        truths = {part: np.array(texts.labels) for part, texts in self._labelled_parts().items()}
        if truths:
            return {"baselines": comparison.scores(truths)}
        return {"cross_validation": comparison.cross_validate(self.config.output.folds)}
