"""Back-translation with Apertium, a rule-based translator available as a small Debian package."""

from __future__ import annotations

import os
import queue
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from jointmatch.augment.translation.engine import Engine, Fault
from jointmatch.augment.translation.installation import Installation
from jointmatch.augment.translation.pipeline import Pipeline, PipelineBroken
from jointmatch.augment.translation.protection import STAND_IN, Protected
from jointmatch.augment.translation.repair import BROKEN, mend
from jointmatch.errors import did_you_mean

# A word whose readings the English tagger was not trained on changes how it tags unknown words, including our
# stand-ins, in all texts that follow. This is such a phrase, the one that changes least: put before each text, it
# makes a text's translation independent of its neighbours.
_PRIMERS = {"eng": "a lot of.[]"}
# Debian's packages that translate both ways, by language pair; the order of the languages in their names varies.
_PACKAGES = {("eng", "spa"): "apertium-eng-spa", ("eng", "cat"): "apertium-eng-cat"}
_BATCH = 16  # texts passed to a worker at once
_UNKNOWN = re.compile(r"\*([^\W_]+(?:'\w+)?)")
_MARK = re.compile(r"(?:\*|#|\\?@)(?=\w)")


class EngineDown(Exception):
    """Not even a full stop can be translated."""


class Apertium(Engine):
    """Translate by looking up words and ordering them by rules: fast on any machine, but clumsy.

    Args:
        language: The language to go through, as Apertium names it (``spa``, ``cat``).
        source: The texts' language.
        workers: Processes per direction; one per core if not given.
        patience: Seconds without any progress after which a process counts as hung and is restarted.
    """

    def __init__(
        self, language: str = "spa", source: str = "eng", workers: int | None = None, patience: float = 30
    ) -> None:
        self.language, self.source = language, source
        self.installation = Installation()
        self.workers = workers or _cores()
        self.patience = patience
        self.down: str | None = None  # why the engine gave up, once it has
        self._lock = threading.Lock()

    def __str__(self) -> str:
        return f"apertium-{self.language}"

    @property
    def modes(self) -> tuple[str, str]:
        """The names of the two directions."""
        back = f"{self.language}-{self.source}"
        american = f"{back}_US"
        return f"{self.source}-{self.language}", american if american in self.installation.modes else back

    @property
    def key(self) -> str:
        return f"{self}({' '.join(self.modes)}, {self._fingerprint})"

    @cached_property
    def _fingerprint(self) -> str:
        return self.installation.fingerprint(self.modes)

    def missing(self) -> str | None:
        known = self.installation.modes
        absent = [mode for mode in self.modes if mode not in known]
        package = _PACKAGES.get((self.source, self.language))
        if not self.installation.program:
            line = "the program apertium; get it with: sudo apt-get install apertium"
            return f"{line} {package}" if package else f"{line}; {self._doubt()}"
        if absent:
            lack = f"apertium's {' and '.join(absent)} (found: {', '.join(known) or 'none'})"
            return f"{lack}; get it with: sudo apt-get install {package}" if package else f"{lack}; {self._doubt()}"
        return None

    def _doubt(self) -> str:
        """Return advice on a language without a known package: a made-up package name would mislead the user."""
        sure = sorted({language for source, language in _PACKAGES if source == self.source} | self._ready())
        near = did_you_mean(self.language, sure)
        return (
            f"{self.language!r} may be misspelt.{near} Known there and back: {', '.join(sure) or 'none'}; "
            "'apt-cache search apertium' lists the pairs there are"
        )

    def _ready(self) -> set[str]:
        """Return the languages that are installed here in both directions."""
        modes = {mode.removesuffix("_US") for mode in self.installation.modes}
        there = {mode.removeprefix(f"{self.source}-") for mode in modes if mode.startswith(f"{self.source}-")}
        return {language for language in there if f"{language}-{self.source}" in modes}

    def round_trip(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> list[str | Fault]:
        protected = [Protected(text) for text in texts]
        todo = [i for i, text in enumerate(protected) if text.translatable]
        results: list[str | Fault] = [Fault.NOTHING] * len(texts)
        batches = [todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)]
        with self._lock, ThreadPoolExecutor(self.workers) as threads:
            try:
                done = threads.map(lambda batch: self._batch([protected[i] for i in batch]), batches)
                for batch, views in zip(batches, done, strict=True):
                    for i, view in zip(batch, views, strict=True):
                        results[i] = view
            except BaseException:
                threads.shutdown(cancel_futures=True)
                raise
        return results

    def close(self) -> None:
        """Stop the processes; the next text starts them again."""
        while not self._workers.empty():
            self._workers.get().close()
        del self._workers

    @cached_property
    def _workers(self) -> queue.SimpleQueue[Worker]:
        workers: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for _ in range(self.workers):
            there, back = map(self._pipeline, self.modes, (self.source, self.language))
            workers.put(Worker(there, back))
        return workers

    def _pipeline(self, mode: str, language: str) -> Pipeline:
        return Pipeline(self.installation.command(mode), self.patience, _PRIMERS.get(language, ""))

    def _batch(self, texts: list[Protected]) -> list[str | Fault]:
        if self.down:
            return [Fault.FAILED] * len(texts)
        worker = self._workers.get()
        try:
            return worker.round_trip(texts)
        except EngineDown as error:
            self.down = str(error)
            return [Fault.FAILED] * len(texts)
        finally:
            self._workers.put(worker)


class Worker:
    """Two pipelines, there and back, for one batch at a time."""

    def __init__(self, there: Pipeline, back: Pipeline) -> None:
        self.there, self.back = there, back

    def round_trip(self, texts: Sequence[Protected]) -> list[str | Fault]:
        """Translate each text there and back, and mend the result."""
        there = carry(self.there, [_ended(text.stream) for text in texts])
        back = iter(carry(self.back, [_turned(t, s) for t, s in zip(texts, there, strict=True) if s is not None]))
        return [Fault.FAILED if s is None else _home(t, next(back)) for t, s in zip(texts, there, strict=True)]

    def close(self) -> None:
        """Stop both processes."""
        self.there.close()
        self.back.close()


def carry(pipeline: Pipeline, streams: Sequence[str]) -> list[str | None]:
    """Translate a batch; if it breaks the pipeline, go on text by text, with None for any that breaks it alone."""
    try:
        return list(pipeline.translate(streams))
    except PipelineBroken as broken:
        done: list[str | None] = list(broken.done)
    return [*done, *(_alone(pipeline, stream) for stream in streams[len(done) :])]


def _alone(pipeline: Pipeline, stream: str) -> str | None:
    try:
        return pipeline.translate([stream])[0]
    except PipelineBroken as broken:
        try:
            pipeline.translate(["."])
        except PipelineBroken:
            raise EngineDown(str(broken)) from broken
        return None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ended(stream: str) -> str:
    """Add a full stop, as Apertium's own text filter does, and a blank without which the stop is swallowed."""
    return stream + ("[]" if stream[-1:] in ".!?" else ".[]")


def _turned(text: Protected, stream: str) -> str:
    """Keep words that were unknown on the way there from being changed on the way back."""

    def keep(match: re.Match[str]) -> str:
        return match[1] if STAND_IN.search(match[1]) else text.word(match[1])

    return _UNKNOWN.sub(keep, stream)


def _home(text: Protected, stream: str | None) -> str | Fault:
    if stream is None:
        return Fault.FAILED
    stream = stream.removesuffix("[]")
    if text.stream[-1:] not in ".!?":
        stream = stream.removesuffix(".")
    stream = _MARK.sub(lambda match: "" if STAND_IN.match(match.string, match.end()) else BROKEN, stream)
    restored = text.restore(stream)
    return Fault.ARTEFACTS if restored is None else mend(text.text, restored)
