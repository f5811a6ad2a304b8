"""Leave the text unchanged: two passes differ only through the networks' dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from jointmatch.augment.base import AUGMENTERS, Augmenter


class _Unchanged(Augmenter):
    random = False

    @classmethod
    def read(cls, argument: str) -> Self:
        if argument:
            raise ValueError("nothing")
        return cls()

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        return list(texts)

    def __str__(self) -> str:
        return self.name


@AUGMENTERS.register("none")
class Nothing(_Unchanged):
    """Leave the text as it is."""


@AUGMENTERS.register("dropout")
class Dropout(_Unchanged):
    """Leave the text as it is; dropout inside the network is the perturbation."""
