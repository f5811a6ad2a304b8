"""One run, from data to model folder, stage by stage."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from jointmatch.algorithms import settings_of
from jointmatch.announcement import announce
from jointmatch.assembly import Assembly
from jointmatch.collapse import FEWEST, shares, swallowed
from jointmatch.comparison import Compared, Comparison, Untrained
from jointmatch.config import Config
from jointmatch.data import SeenTexts, Splits
from jointmatch.fitting import fit
from jointmatch.leads import Hits, paired_leads
from jointmatch.listener import Remembering
from jointmatch.model import Model, ModelFacts
from jointmatch.networks import Encoder, Networks, device_name
from jointmatch.record import RunFolder
from jointmatch.resolve import choose_mode, resolve
from jointmatch.scores import Scores, truths_of
from jointmatch.training import (
    Checkpointing,
    FeatureSet,
    FullLearner,
    Listener,
    LiteLearner,
    Loop,
    Trained,
    Updater,
)
from jointmatch.training.checkpoints import check_identity, read_facts
from jointmatch.version import __version__
from jointmatch.words import Lessons, NoLessonsError, WordReader

T = TypeVar("T")
NOTHING_GAINED = (
    "Fine-tuning never scored better on dev than its starting point, heads trained on frozen features, so the starting "
    "point is kept. --mode lite gives about the same result in less time. A lower training.learning_rate or "
    "algorithm.unlabeled_weight may help."
)


@dataclass(frozen=True)
class Outcome:
    """What a run returns."""

    model: Model
    config: Config
    history: list[dict[str, Any]]
    result: dict[str, Any]
    hits: Hits


class Job:
    """One run; takes the arguments of ``run``, and its methods are the stages in order."""

    encoder: Encoder | None = None  # frozen
    features: FeatureSet | None = None
    start: Untrained | None = None  # heads that are trained before the networks they belong to
    begun: np.ndarray | None = None  # each class's share of the pool when training begins
    learner: LiteLearner | FullLearner
    loop: Loop

    def __init__(
        self,
        splits: Splits,
        settings: Mapping[str, Any],
        folder: str | Path | None,
        listener: Listener,
        resume: bool,
    ) -> None:
        self.splits, self.asked, self.resume = splits, settings, resume
        self.listener = listener = Remembering(listener)
        self.folder = RunFolder(folder) if folder is not None else None
        self.side_by_side = 1  # how many seeds were trained at once
        self.seconds: dict[str, float] = {}
        mode, reason = choose_mode(settings, len(splits.pool))
        self.config, warnings = fit(resolve(settings, mode), splits)
        for text in warnings:
            listener.warn(text)
        self.assembly = Assembly(splits, self.config, settings, listener)
        self.algorithm = self.assembly.algorithm()  # before anything is computed: settings may not fit the data
        self.truths = truths_of(splits)
        announce(self.assembly, mode, reason)

    def is_like(self, other: Job) -> bool:
        """Whether the networks have the same shape: the data may have changed the method."""
        own, others = self.config, other.config
        same = (own.algorithm, own.network, own.training.mode) == (
            others.algorithm,
            others.network,
            others.training.mode,
        )
        return same and len(self.splits.classes) == len(other.splits.classes)

    def run(self) -> Outcome:
        """Run the whole job by itself."""
        self.prepare()
        self.warm_up()
        self.build()
        return self.finish(self.timed("training", self.loop.run))

    def kept(self) -> Outcome | None:
        """Return the outcome of a finished run that this one would resume, or None."""
        if self.folder is None or not self._will_resume() or not self.folder.result.exists():
            return None
        self._check_checkpoint()
        try:
            history, result, hits = self.folder.read_history(), self.folder.read_result(), self.folder.read_hits()
        except (OSError, ValueError):  # damaged since: redo what is missing
            return None
        if result.get("test_texts") != self._test_texts():  # the test part has changed: score again
            return None
        return Outcome(Model.load(self.folder.model, str(self.assembly.device)), self.config, history, result, hits)

    def prepare(self, like: Job | None = None) -> None:
        """Compute frozen features if they are needed, reusing the encoder of a job ``like`` this one."""
        if self.folder:
            self._check_checkpoint()
            self.folder.write_config(self.config)
        if self.config.output.baselines or self.assembly.starts_at_features:
            self.encoder = encoder = (like and like.encoder) or self.assembly.frozen_encoder()
            self.features = self.timed("features", lambda: self.assembly.features(encoder))
        if self.config.training.mode == "full" and self.config.training.warm_start:
            assert self.features is not None
            start = self.assembly.warm_start(self.features)
            self.begun = self._shares_at_start(start.learner)
            self.start = None if self._will_resume() else start

    def warm_up(self) -> None:
        """Train the heads first if this is a warm start."""
        if self.start is not None:
            self.listener.note("Warm start: training heads on frozen features first.")
            self.timed("training", self.start.loop.run)

    def build(self) -> None:
        """Do everything up to the first step."""
        self.timed("training", self._build)

    def finish(self, trained: Trained) -> Outcome:
        """Do everything after the last step."""
        if trained.best_step == 0:
            self.listener.warn(NOTHING_GAINED)
        lessons = self.timed("words", self._lessons) if self.config.network.word_reader else None
        wanted = self.folder is not None or self.begun is not None or lessons is not None
        pool = self._probs("pool") if wanted else np.empty(0)
        if self.begun is not None:
            aligns = "alignment" in settings_of(self.config.algorithm.name)
            if problem := swallowed(self.begun, shares(pool), self.splits.classes, aligns):
                self.listener.warn(problem)
        reader = self.timed("words", lambda: lessons.taught(pool.mean(0))) if lessons else None
        model = self._model(trained, reader)
        alone = {part: self._probs(part, trained.logits.get(part)).mean(0) for part in self.truths}
        scores = Scores(self.splits, alone, reader)
        result = self._result(trained, model, scores)
        compared = self._compared(lessons)
        result |= scores.beside(compared) if compared else {}
        hits = scores.hits(compared, self.config.algorithm.name)
        result["leads"] = paired_leads([hits], self.config.algorithm.name)
        result["seconds"] = {name: round(value, 3) for name, value in self.seconds.items()}
        if self.folder:
            problem = self.folder.write_pseudo_labels(self.splits, pool)
            if problem:
                self.listener.note(problem)
            model.save(self.folder.model)
            self.folder.write_hits(hits)
            self.folder.write_result(result)
        del self.learner, self.loop  # other seeds may need the memory
        self.features = None
        return Outcome(model, self.config, trained.history, result, hits)

    def timed(self, name: str, stage: Callable[[], T]) -> T:
        """Run a stage, add its seconds to the record and return its result."""
        start = time.perf_counter()
        value = stage()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        return value

    def _shares_at_start(self, learner: LiteLearner) -> np.ndarray | None:
        """Class shares of the pool by heads that start as class means; None where dev shows how good the result is."""
        random, learns = self.config.network.head_init == "random", self.algorithm.uses_unlabeled
        if "dev" in self.truths or random or not learns or len(self.splits.pool) < FEWEST:
            return None
        with torch.no_grad():
            return shares(learner.part_logits(learner.networks.eval(), "pool").softmax(-1).numpy())

    def _build(self) -> None:
        if self.config.training.mode == "lite":
            assert self.features is not None
            self.learner = self.assembly.lite_learner(self.features)
            self.begun = self._shares_at_start(self.learner)
        else:
            self.learner = self.assembly.full_learner(self.features, self.start and self.start.learner.heads)
        warm, self.start = self.start is not None, None
        truth = torch.tensor(self.splits.pool.labels, dtype=torch.long)
        updater = Updater(self.learner, self.algorithm, self.config.training, truth, self.listener)
        self.loop = Loop(updater, self.listener, self.truths, self._checkpointing(), self._keep_history, warm)
        if self.resume and self.loop.load():
            self.listener.note(f"Resumed after step {self.loop.progress.step}.")

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

    def _check_checkpoint(self) -> None:
        """Refuse to resume from another run's checkpoint before any work is done."""
        if self.folder and self._will_resume():
            changed = self.folder.changed_settings(self.config)
            check_identity(self.folder.checkpoint, read_facts(self.folder.checkpoint), self._identity(), changed)

    def _identity(self) -> str:
        """A digest of the settings and the data that a checkpoint belongs to."""
        settings = {name: values for name, values in self.config.to_dict().items() if name != "output"}
        parts: list[Any] = [settings, self.splits.classes, self.assembly.backbone.fingerprint()]
        if self.config.network.stacked != "off":  # the optimiser's state has a different layout
            parts.append("stacked")
        for part in (self.splits.labeled, self.splits.pool, self.splits.dev):
            parts.append([part.texts, part.labels, part.weak, part.strong] if part else None)
        return _digest(parts)

    def _test_texts(self) -> str | None:
        """A digest of the test part: training does not depend on it, but the scores do."""
        test = self.splits.test
        return None if test is None else test.digest()

    def _lessons(self) -> Lessons | None:
        pool, labeled, classes = self.splits.pool.texts, self.splits.labeled, len(self.splits.classes)
        try:
            return Lessons(pool, labeled.texts, labeled.labels, classes, self.config.training.seed)
        except NoLessonsError as error:
            asked = self.asked.get("network", {}).get("word_reader")  # warn users who asked for one
            (self.listener.warn if asked else self.listener.note)(f"No word reader beside the networks: {error}.")
            return None

    def _model(self, trained: Trained, reader: WordReader | None) -> Model:
        if isinstance(self.learner, FullLearner):
            networks = self.learner.model.apart()
        else:
            assert self.encoder is not None
            networks = Networks([self.encoder], self.learner.heads)
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
            cut=parts.tokenizer.cut,
            head=dict(vars(networks.heads.shape)),
            selection=trained.selection,
            steps=trained.best_step,
            seed=training.seed,
            text_column=self.splits.text_column,
            unlabeled_value=self.config.data.unlabeled_value,
            version=__version__,
            settings=dict(self.config.algorithm.settings),
            # Whole networks are not trained on int8 features.
            engine=self.config.network.engine if training.mode == "lite" else "auto",
        )
        seen = SeenTexts.of(self.splits.labeled.texts)
        return Model(networks, parts.tokenizer, parts.backbone, facts, reader, seen)

    def _probs(self, part: str, known: Tensor | None = None) -> np.ndarray:
        """Probabilities (N, M, C) under the kept weights, from their logits if ``known``."""
        learner = self.learner
        if part == "pool" and not len(self.splits.pool):
            return np.empty((learner.num_networks, 0, len(self.splits.classes)))
        with torch.no_grad():
            logits = learner.part_logits(learner.networks, part) if known is None else known
        return logits.double().softmax(-1).numpy()

    def _result(self, trained: Trained, model: Model, scores: Scores) -> dict[str, Any]:
        reader, found = model.reader, scores.full()
        if problem := scores.harm_of_words():
            self.listener.warn(problem)
        model.metrics = found
        device = self.assembly.device
        return {
            "version": __version__,
            "algorithm": self.config.algorithm.name,
            "recipe": self.config.training.recipe,
            "mode": self.config.training.mode,
            "backbone": self.assembly.backbone.name,
            "device": device_name(device),
            "seed": self.config.training.seed,
            "side_by_side": self.side_by_side,
            "classes": self.splits.classes,
            "labelled": len(self.splits.labeled),
            "unlabelled": len(self.splits.pool),
            "data": self.splits.counts,
            "conflicts": self.splits.conflicts,
            "test_texts": self._test_texts(),
            "warnings": self.listener.warnings,
            "steps": trained.steps,
            "kept_step": trained.best_step,
            "termination": trained.termination,
            "selection": trained.selection,
            "known_words": len(reader.words.vocabulary) if reader else None,
            "scores": found,
            "scores_of_networks": scores.of_networks(),
            "scores_of_last_step": trained.last,
        }

    def _compared(self, lessons: Lessons | None) -> Compared | None:
        """What to compare the result with: baselines where there are labels, else a cross-validation."""
        features, classes = self.features, len(self.splits.classes)
        if not self.config.output.baselines or features is None:
            return None
        comparison = Comparison(features, self.assembly.lite_config(), classes, self.listener, lessons)
        folds = self.config.output.folds
        return self.timed(
            "baselines", lambda: comparison.scores(self.truths) if self.truths else comparison.cross_validate(folds)
        )


def _digest(parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
