"""Back-translation: paraphrase a text by way of another language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from jointmatch.augment.base import AUGMENTERS, Augmenter
from jointmatch.augment.translation.apertium import Apertium
from jointmatch.augment.translation.engine import ADDED, Engine, Fault, Function
from jointmatch.augment.translation.marian import Marian
from jointmatch.errors import InputError

_SHORTEST, _LONGEST = 1 / 3, 3.0  # words in a view per word of its text


@dataclass
class Counts:
    """What happened to the views requested so far; a text may have several."""

    made: int = 0
    unchanged: int = 0  # came back word for word
    dropped: Counter[Fault] = field(default_factory=Counter)  # why the text itself was used instead

    @property
    def total(self) -> int:
        """Number of views requested so far."""
        return self.made + self.unchanged + sum(self.dropped.values())

    def __str__(self) -> str:
        parts = [f"of {self.total} view(s) {self.made} made", f"{self.unchanged} unchanged"]
        return ", ".join([*parts, *(f"{count} left as they were: {fault}" for fault, count in self.dropped.items())])


@AUGMENTERS.register("backtranslation")
class BackTranslation(Augmenter):
    """Translate to another language and back.

    Args:
        engine: The translator: an ``Apertium``, a ``Marian``, or a function that takes a list of texts and returns
            as many, translated there and back. None takes Marian if its models are on this machine, else Apertium.
        key: For a function: its name and version, under which its views are cached for the next run.
    """

    version = 2
    random = False
    dear = True
    choices = ("apertium", "marian")
    needs = "English texts; the program apertium or Marian's models"

    def __init__(
        self, engine: Engine | Callable[[list[str]], Sequence[str | None]] | None = None, key: str | None = None
    ) -> None:
        self._given = engine if engine is None or isinstance(engine, Engine) else Function(engine, key)
        self.counts = Counts()
        if self._given and self._given.random:
            self.random = True  # this one samples

    @classmethod
    def read(cls, argument: str) -> Self:
        if argument in ADDED:
            return cls(ADDED[argument])
        name, *options = argument.split("-")
        sampling = options[-1:] == ["sampling"]
        language = "-".join(options[:-1] if sampling else options)
        if name == "apertium" and not sampling:
            return cls(Apertium(language or "spa"))
        if name == "marian":
            return cls(Marian(language or "de", sampling=sampling))
        if argument:
            own = "".join(f", {name}" for name in sorted(ADDED))
            raise ValueError(
                f"apertium, marian{own}, or one of the first two with a language, such as apertium-spa or marian-fr"
            )
        return cls()

    def missing(self) -> str | None:
        if self._given:
            return self._given.missing()
        lacks = [lack for engine in (Apertium(), Marian()) if (lack := engine.missing())]
        return f"{lacks[0]}, or: {lacks[1]}" if len(lacks) == 2 else None

    def report(self) -> str | None:
        if not self.counts.total:
            return None
        stopped = f"; {self.engine} does not work here any more: {self.engine.down}" if self.engine.down else ""
        return f"{self.counts}{stopped}"

    def gave_up(self) -> bool:
        return 2 * sum(self.counts.dropped.values()) > self.counts.total or Fault.LACKING in self.counts.dropped

    @cached_property
    def engine(self) -> Engine:
        """The engine that was asked for, or the best one that is ready on this machine."""
        if self._given:
            return self._given
        best = Marian()
        return Apertium() if best.missing() else best

    @property
    def key(self) -> str:
        return f"{self.name}:{self.engine.key}@{self.version}"

    def __str__(self) -> str:
        return f"{self.name}:{self.engine}"

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        views = self.attempt(texts, rng.spawn(len(texts)))
        return [text if view is None else view for text, view in zip(texts, views, strict=True)]

    def attempt(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> list[str | None]:
        """Return one view of each text from its own generator, or None if the engine failed but may yet succeed."""
        lack = self.missing()
        if lack:
            raise InputError(f"{self if self._given else self.name} needs {lack}")
        if not texts:
            return []
        return [self._judge(t, v) for t, v in zip(texts, self.engine.round_trip(texts, rngs), strict=True)]

    def _judge(self, text: str, view: str | Fault) -> str | None:
        fault = view if isinstance(view, Fault) else _fault(text, view)
        if fault:
            self.counts.dropped[fault] += 1
            return None if fault.passing else text
        if view.split() == text.split():
            self.counts.unchanged += 1
            return text
        self.counts.made += 1
        return str(view)


def _fault(text: str, view: str) -> Fault | None:
    if not text.strip():
        return Fault.NOTHING
    if not view.strip():
        return Fault.EMPTY
    words, before = len(view.split()), len(text.split())
    # A sentence of three words may well come back as one, or as nine.
    return None if _SHORTEST * before - 2 <= words <= _LONGEST * before + 2 else Fault.LENGTH
