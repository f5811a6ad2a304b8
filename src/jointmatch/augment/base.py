"""What an augmenter is: texts and a random generator in, as many texts out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from jointmatch.errors import ConfigError, UnknownNameError
from jointmatch.registry import Registry


class Augmenter(ABC):
    """Makes another view of a text that should keep its label.

    Args:
        rate: Share of the words that are changed.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1  # raise when the same seed would give other texts
    default_rate: ClassVar[float] = 0.1
    needs: ClassVar[str | None] = None  # a language, a download, a program; None: nothing
    random: ClassVar[bool] = True  # whether two calls may differ

    def __init__(self, rate: float | None = None) -> None:
        self.rate = self.default_rate if rate is None else rate

    @abstractmethod
    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        """Change the words of one text, or its characters where the script has no spaces."""

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        """One view of each text; never empty where the text is not."""
        return [self._view(text, rng) for text in texts]

    def _view(self, text: str, rng: np.random.Generator) -> str:
        if self.rate == 0:
            return text
        units, joint = split_units(text)
        return joint.join(self.change(units, rng)) or text

    @property
    def key(self) -> str:
        """Name, settings and version: what a cached view depends on besides the text and the seed."""
        return f"{self}@{self.version}"

    def __str__(self) -> str:
        return f"{self.name}:{self.rate:g}" if self.random else self.name


AUGMENTERS: Registry[Augmenter] = Registry("augmenter")

# Thai, Lao, Myanmar, Khmer, Japanese and Chinese write words without spaces between them.
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def split_units(text: str) -> tuple[list[str], str]:
    """Words and the space between them; in a script without spaces, characters and nothing between them."""
    words = text.split()
    if 2 * len(_SPACELESS.findall(text)) > sum(map(len, words)):
        return list("".join(words)), ""
    return words, " "


class Chain:
    """Augmenters one after the other."""

    def __init__(self, parts: Sequence[Augmenter]) -> None:
        self.parts = list(parts)

    @property
    def random(self) -> bool:
        """Whether two calls may differ."""
        return any(part.random for part in self.parts)

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
    """Read ``deletion:0.2+swap``: names joined by ``+``, each with an optional rate."""
    parts, faults = [], []
    for item in spec.split("+"):
        name, _, rate = item.strip().partition(":")
        try:
            cls = AUGMENTERS[name]
        except UnknownNameError as error:
            faults.append(str(error))
            continue
        try:
            value = float(rate) if rate else None
        except ValueError:
            value = -1.0
        if value is not None and not 0 <= value <= 1:
            faults.append(f"augmenter {item.strip()!r} has the rate {rate!r}, wanted a number from 0 to 1")
            continue
        part = cls(value)
        if mask_token is not None and hasattr(part, "mask_token"):
            part.mask_token = mask_token
        parts.append(part)
    if faults:
        raise ConfigError(faults)
    return Chain(parts)
