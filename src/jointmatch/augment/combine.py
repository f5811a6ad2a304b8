"""Combine augmenters: one after the other, or one of several at random."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from jointmatch.augment.base import AUGMENTERS, Augmenter, Surroundings
from jointmatch.errors import ConfigError, UnknownNameError


class Combination(Augmenter):
    """Several augmenters that act as one."""

    sign: str  # separates the parts in a spec

    def __init__(self, parts: Sequence[Augmenter]) -> None:
        self.parts = list(parts)

    @classmethod
    def read(cls, argument: str) -> Self:
        return cls([parse(item) for item in argument.split(cls.sign)])

    @property
    @abstractmethod
    def random(self) -> bool:  # type: ignore[override]
        """Whether two calls may differ."""

    @property
    def dear(self) -> bool:  # type: ignore[override]
        """Whether a view is worth caching on disk."""
        return any(part.dear for part in self.parts)

    @property
    def reads_backbone(self) -> bool:  # type: ignore[override]
        """Whether any part reads the backbone."""
        return any(part.reads_backbone for part in self.parts)

    @property
    def key(self) -> str:
        """The parts' keys in order."""
        return self.sign.join(part.key for part in self.parts)

    def missing(self) -> str | None:
        lacks = (part.missing() for part in self.parts)
        return next((lack for lack in lacks if lack), None)

    def prepare(self, surroundings: Surroundings) -> None:
        for part in self.parts:
            part.prepare(surroundings)

    def report(self) -> str | None:
        return "; ".join(f"{part}: {told}" for part in self.parts if (told := part.report())) or None

    def gave_up(self) -> bool:
        return any(part.gave_up() for part in self.parts)

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        views = self.attempt(texts, rng.spawn(len(texts)))
        return [text if view is None else view for text, view in zip(texts, views, strict=True)]

    def __str__(self) -> str:
        return self.sign.join(map(str, self.parts))


class Chain(Combination):
    """Augmenters one after the other, written ``deletion+swap``."""

    sign = "+"

    @property
    def random(self) -> bool:  # type: ignore[override]
        return any(part.random for part in self.parts)

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        views = list(texts)
        for part in self.parts:
            views = part(views, rng)
        return views

    def attempt(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> Sequence[str | None]:
        views: list[str | None] = list(texts)
        for part in self.parts:
            rows = [i for i, view in enumerate(views) if view is not None]
            for i, view in zip(
                rows, part.attempt([views[i] or "" for i in rows], [rngs[i] for i in rows]), strict=True
            ):
                views[i] = view
        return views


class OneOf(Combination):
    """Each text by one of several augmenters, drawn at random; written ``synonym|deletion+swap``."""

    sign = "|"

    @property
    def random(self) -> bool:  # type: ignore[override]
        return len(self.parts) > 1 or any(part.random for part in self.parts)

    def attempt(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> Sequence[str | None]:
        chosen = [int(rng.integers(len(self.parts))) for rng in rngs]
        views: list[str | None] = list(texts)
        for number, part in enumerate(self.parts):
            rows = [i for i, which in enumerate(chosen) if which == number]
            for i, view in zip(rows, part.attempt([texts[i] for i in rows], [rngs[i] for i in rows]), strict=True):
                views[i] = view
        return views


def parse(spec: str) -> Augmenter:
    """Parse a spec: names with an optional argument, as in ``deletion:0.2``; ``+`` chains them, ``|`` draws one.

    Raises:
        ConfigError: Names every unknown augmenter and every invalid argument.
    """
    faults: list[str] = []
    choices = []
    for choice in spec.split(OneOf.sign):
        parts = []
        for item in choice.split(Chain.sign):
            if not item.strip():
                faults.append(_gap(spec, choice))
                continue
            try:
                parts.append(_read_one(item))
            except ConfigError as error:
                faults += error.faults
        choices.append(parts[0] if len(parts) == 1 else Chain(parts))
    if faults:
        raise ConfigError(dict.fromkeys(faults))  # two missing names beside the same sign count as one fault
    return choices[0] if len(choices) == 1 else OneOf(choices)


def _gap(spec: str, choice: str) -> str:
    """Return the message for a missing name."""
    sign = next((sign for sign, where in ((Chain.sign, choice), (OneOf.sign, spec)) if sign in where), None)
    if sign is None:
        return "got an empty augmenter, wanted a name; 'jointmatch augmenters' lists them"
    return f"augmenter {spec!r}: something is missing beside a {sign!r}, wanted a name on both sides, as in a{sign}b"


def _read_one(item: str) -> Augmenter:
    name, _, argument = item.strip().partition(":")
    try:
        return AUGMENTERS[name].read(argument)
    except UnknownNameError as error:
        raise ConfigError([str(error)]) from None
    except ValueError as error:
        fault = f"augmenter {item.strip()!r}: got {argument!r} behind the colon, wanted {error}"
        raise ConfigError([fault]) from None
