"""What an augmenter is: texts and a random generator in, as many texts out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from jointmatch.errors import ConfigError, UnknownNameError
from jointmatch.registry import Registry


class Augmenter(ABC):
    """Makes another view of a text that should keep its label."""

    name: ClassVar[str]
    version: ClassVar[int] = 1  # raise when the same seed would give other texts
    random: ClassVar[bool] = True  # whether two calls may differ
    dear: ClassVar[bool] = False  # takes long: made once per text and kept on disk, not afresh at every step
    needs: ClassVar[str | None] = None  # a language, a download, a program, in words; None: nothing

    @classmethod
    @abstractmethod
    def read(cls, argument: str) -> Self:
        """Make one from what stands behind the colon in a spec ("" for nothing); ValueError says what was wanted."""

    @classmethod
    def missing(cls) -> str | None:
        """What this machine lacks and the one line that gets it; None where the augmenter is ready."""
        return None

    @abstractmethod
    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        """One view of each text; never empty where the text is not."""

    @property
    def key(self) -> str:
        """Name, settings and version: what a view depends on besides the text and the seed."""
        return f"{self}@{self.version}"

    @abstractmethod
    def __str__(self) -> str:
        """The spec that makes this augmenter again."""


class WordAugmenter(Augmenter):
    """Changes some of a text's words, or of its characters where the script has no spaces.

    Args:
        rate: Share of the words that are changed.
    """

    default_rate: ClassVar[float] = 0.1

    def __init__(self, rate: float | None = None) -> None:
        self.rate = self.default_rate if rate is None else rate

    @classmethod
    def read(cls, argument: str) -> Self:
        return cls(read_rate(argument) if argument else None)

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

    def __str__(self) -> str:
        return f"{self.name}:{self.rate:g}"


AUGMENTERS: Registry[Augmenter] = Registry("augmenter")

# Thai, Lao, Myanmar, Khmer, Japanese and Chinese write words without spaces between them.
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def split_units(text: str) -> tuple[list[str], str]:
    """Words and the space between them; in a script without spaces, characters and nothing between them."""
    words = text.split()
    if 2 * len(_SPACELESS.findall(text)) > sum(map(len, words)):
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


class Chain:
    """Augmenters one after the other."""

    def __init__(self, parts: Sequence[Augmenter]) -> None:
        self.parts = list(parts)

    @property
    def random(self) -> bool:
        """Whether two calls may differ."""
        return any(part.random for part in self.parts)

    @property
    def dear(self) -> bool:
        """Whether a view is worth keeping on disk."""
        return any(part.dear for part in self.parts)

    @property
    def key(self) -> str:
        """The parts' keys in order."""
        return "+".join(part.key for part in self.parts)

    def __str__(self) -> str:
        return "+".join(map(str, self.parts))

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        """One view of each text."""
        views = list(texts)
        for part in self.parts:
            views = part(views, rng)
        return views


def parse(spec: str, mask_token: str | None = None) -> Chain:
    """Read ``deletion:0.2+swap``: names joined by ``+``, each with an optional argument."""
    parts, faults = [], []
    for item in spec.split("+"):
        name, _, argument = item.strip().partition(":")
        try:
            part = AUGMENTERS[name].read(argument)
        except UnknownNameError as error:
            faults.append(str(error))
            continue
        except ValueError as error:
            faults.append(f"augmenter {item.strip()!r}: got {argument!r} behind the colon, wanted {error}")
            continue
        if mask_token is not None and hasattr(part, "mask_token"):
            part.mask_token = mask_token
        parts.append(part)
    if faults:
        raise ConfigError(faults)
    return Chain(parts)
