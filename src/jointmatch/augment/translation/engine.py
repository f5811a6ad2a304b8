"""Engines that translate a text into another language and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import StrEnum
from uuid import uuid4

import numpy as np

from jointmatch.errors import ConfigError


class Fault(StrEnum):
    """Why a text has no view, so that the text itself is used."""

    FAILED = "the engine failed"
    LACKING = "the function gave nothing, and is asked again in the next run"
    NOTHING = "nothing to translate"
    ARTEFACTS = "too many words came back broken"
    EMPTY = "came back empty"
    LENGTH = "came back far shorter or longer"

    @property
    def passing(self) -> bool:
        """Whether another attempt may succeed, so that nothing is cached on disk."""
        return self in (Fault.FAILED, Fault.LACKING)


class Engine(ABC):
    """Translates texts there and back. Starting up may be slow, so it happens at the first text."""

    random: bool = False  # whether two calls may differ
    down: str | None = None  # why it gave up for good, if it did

    @abstractmethod
    def __str__(self) -> str:
        """Return what follows ``backtranslation:`` in a spec."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Everything that a translation depends on: program or models, their versions and settings."""

    @abstractmethod
    def missing(self) -> str | None:
        """Return what this machine lacks and the one line that gets it, or None if the engine is ready."""

    @abstractmethod
    def round_trip(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> list[str | Fault]:
        """Translate each text there and back, in the given order, with one generator per text."""


class Function(Engine):
    """A Python function that translates texts there and back, in the same order.

    Args:
        function: Takes a list of texts; returns as many, with None or ``""`` for those it could not translate. Why it
            could not, a limit on requests perhaps, cannot be seen from outside, so these are not cached.
        key: Names the function and its version, so that its views can be cached on disk for the next run. Without
            a key they are made anew in each run: what a function does cannot be seen from outside.
    """

    def __init__(
        self, function: Callable[[list[str]], Sequence[str | None]], key: str | None = None, name: str | None = None
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self._key = key or f"{self}-{uuid4().hex}"

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> str:
        return self._key

    def missing(self) -> str | None:
        return None

    def round_trip(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> list[str | Fault]:
        done = self._call(list(texts))
        if done is None:  # a single text may be to blame: retry one by one, so that the others get their views
            done = [one[0] if (one := self._call([text])) else Fault.FAILED for text in texts]
        return [_checked(text, given) for text, given in zip(texts, done, strict=True)]

    def _call(self, texts: list[str]) -> list[str | None] | None:
        try:
            done = list(self.function(texts))
        except Exception:  # anything may go wrong in a user's function; the texts are counted as failed
            return None
        return done if len(done) == len(texts) else None


def _checked(text: str, given: object) -> str | Fault:
    """Return what a function gave for a text if it is a string that says something, else a fault."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return Fault.LACKING if text.strip() else Fault.NOTHING
    return given if isinstance(given, str) else Fault.FAILED


ADDED: dict[str, Engine] = {}
"""Engines of the user's own by the name that stands behind ``backtranslation:``."""


def add_engine(name: str, engine: Engine | Callable[[list[str]], Sequence[str | None]], key: str | None = None) -> None:
    """Register a translation engine as ``backtranslation:NAME`` in this process.

    Args:
        name: A word without ``:``, ``+`` or ``|``.
        engine: An ``Engine``, or a function that takes a list of texts and returns as many, translated there and back.
        key: For a function: its name and version, under which its views are cached for the next run.
    """
    if not name or set(name) & set(":+|"):
        raise ConfigError([f"got {name!r} as an engine's name, wanted a word without ':', '+' or '|'"])
    ADDED[name] = engine if isinstance(engine, Engine) else Function(engine, key, name)
