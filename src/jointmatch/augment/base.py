"""The augmenter interface: takes texts and a random generator, returns as many texts."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from jointmatch.registry import Registry


@dataclass(frozen=True)
class Surroundings:
    """What an augmenter may need to know about the run that uses it."""

    mask_token: str | None = None  # the backbone's mask token
    backbone: str | None = None  # a folder or a hub name that transformers can load
    corpus: Sequence[str] = ()  # the run's texts
    backbone_name: str | None = None  # as the user knows it; the folder of an embedded backbone means nothing to them


class Augmenter(ABC):
    """Makes another view of a text that should keep its label."""

    name: ClassVar[str]
    version: ClassVar[int] = 1  # raise when the same seed would give other texts
    random: bool = True  # whether two calls may differ
    dear: ClassVar[bool] = False  # slow: views are made once per text and cached on disk, not made afresh at every step
    reads_backbone: ClassVar[bool] = False  # uses the backbone or its mask token in ``prepare``
    choices: ClassVar[tuple[str, ...]] = ()  # arguments that stand for different resources, listed separately
    needs: ClassVar[str | None] = None  # a language, a download or a program, in words; None if nothing

    @classmethod
    @abstractmethod
    def read(cls, argument: str) -> Self:
        """Create one from the argument after the colon in a spec ("" if none); ValueError says what was wanted."""

    def missing(self) -> str | None:
        """Return what this machine lacks and the one line that gets it, or None if the augmenter is ready."""
        return None

    def prepare(self, surroundings: Surroundings) -> None:  # noqa: B027 - most need nothing
        """Take what is needed from the run; called before the first text."""

    @abstractmethod
    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        """Return one view of each text; never empty unless the text is."""

    def attempt(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> Sequence[str | None]:
        """Return one view of each text from its own generator, or None if it failed but may succeed another time."""
        return [self([text], rng)[0] for text, rng in zip(texts, rngs, strict=True)]

    def report(self) -> str | None:
        """Describe what happened to the texts so far, or return None if there is nothing to say."""
        return None

    def gave_up(self) -> bool:
        """Whether the report is a warning: most texts were left unchanged, or a function of the user's gave nothing."""
        return False

    @property
    def key(self) -> str:
        """Name, settings and version: what a view depends on besides the text and the seed."""
        return f"{self}@{self.version}"

    @abstractmethod
    def __str__(self) -> str:
        """Return the spec from which this augmenter can be created again."""


class RatedAugmenter(Augmenter):
    """Changes a share of a text's words, however it does that.

    Args:
        rate: Share of the words that are changed.
    """

    default_rate: ClassVar[float] = 0.1

    def __init__(self, rate: float | None = None) -> None:
        self.rate = self.default_rate if rate is None else rate

    @classmethod
    def read(cls, argument: str) -> Self:
        return cls(read_rate(argument) if argument else None)

    def __str__(self) -> str:
        return f"{self.name}:{self.rate:g}"


class WordAugmenter(RatedAugmenter):
    """Changes the words of one text at a time, or its characters where the script has no spaces."""

    @abstractmethod
    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        """Change the words of one text, or its characters where the script has no spaces."""

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        return [self._view(text, rng) for text in texts]

    def _view(self, text: str, rng: np.random.Generator) -> str:
        if self.rate == 0:
            return text
        units, joint = split_units(text)
        return joint.join(self.change(units, rng)) or text


AUGMENTERS: Registry[Augmenter] = Registry("augmenter")

# Thai, Lao, Myanmar, Khmer, Japanese and Chinese are written without spaces between words.
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def split_units(text: str) -> tuple[list[str], str]:
    """Return the words and the space between them; in a script without spaces, the characters and an empty string."""
    words = text.split()
    if not text.isascii() and 2 * len(_SPACELESS.findall(text)) > sum(map(len, words)):
        return list("".join(words)), ""
    return words, " "


def read_rate(argument: str) -> float:
    """Parse a share from 0 to 1; raise ValueError for anything else."""
    try:
        rate = float(argument)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ValueError("a rate from 0 to 1")
    return rate
