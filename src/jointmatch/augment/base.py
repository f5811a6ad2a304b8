"""What an augmenter is: texts and a random generator in, as many texts out."""

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
    """What an augmenter may want to know of the run it works for."""

    mask_token: str | None = None  # how the backbone writes a masked word
    backbone: str | None = None  # a folder or a hub name that transformers can load
    corpus: Sequence[str] = ()  # the run's texts
    backbone_name: str | None = None  # as the user knows it; the folder of an embedded one says nothing to them


class Augmenter(ABC):
    """Makes another view of a text that should keep its label."""

    name: ClassVar[str]
    version: ClassVar[int] = 1  # raise when the same seed would give other texts
    random: bool = True  # whether two calls may differ
    dear: ClassVar[bool] = False  # takes long: made once per text and kept on disk, not afresh at every step
    reads_backbone: ClassVar[bool] = False  # asks for the backbone or its mask token in ``prepare``
    choices: ClassVar[tuple[str, ...]] = ()  # arguments that stand for different resources, listed one by one
    needs: ClassVar[str | None] = None  # a language, a download, a program, in words; None: nothing

    @classmethod
    @abstractmethod
    def read(cls, argument: str) -> Self:
        """Make one from what stands behind the colon in a spec ("" for nothing); ValueError says what was wanted."""

    def missing(self) -> str | None:
        """What this machine lacks and the one line that gets it; None where the augmenter is ready."""
        return None

    def prepare(self, surroundings: Surroundings) -> None:  # noqa: B027 - most need nothing
        """Take what is needed from the run, before the first text."""

    @abstractmethod
    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        """One view of each text; never empty where the text is not."""

    def attempt(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> Sequence[str | None]:
        """One view of each text from its own generator; None where it failed and may go well another time."""
        return [self([text], rng)[0] for text, rng in zip(texts, rngs, strict=True)]

    def report(self) -> str | None:
        """What became of the texts given so far, in words, where there is something to say."""
        return None

    def gave_up(self) -> bool:
        """Whether most texts given so far had to be left as they were."""
        return False

    @property
    def key(self) -> str:
        """Name, settings and version: what a view depends on besides the text and the seed."""
        return f"{self}@{self.version}"

    @abstractmethod
    def __str__(self) -> str:
        """The spec that makes this augmenter again."""


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

# Thai, Lao, Myanmar, Khmer, Japanese and Chinese write words without spaces between them.
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def split_units(text: str) -> tuple[list[str], str]:
    """Words and the space between them; in a script without spaces, characters and nothing between them."""
    words = text.split()
    if not text.isascii() and 2 * len(_SPACELESS.findall(text)) > sum(map(len, words)):
        return list("".join(words)), ""
    return words, " "


def read_rate(argument: str) -> float:
    """A share from 0 to 1, or ValueError."""
    try:
        rate = float(argument)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ValueError("a rate from 0 to 1")
    return rate
