"""Augmenters with a rate that look at more than the words of one text."""

from __future__ import annotations

from typing import ClassVar, Self

from jointmatch.augment.base import Augmenter, read_rate


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
