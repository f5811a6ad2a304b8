"""The text as it is: the networks' dropout alone makes two passes differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jointmatch.augment.base import AUGMENTERS, Augmenter


class _Unchanged(Augmenter):
    random = False
    default_rate = 0.0

    def change(self, units: list[str], rng: np.random.Generator) -> list[str]:
        return units

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        return list(texts)


@AUGMENTERS.register("none")
class Nothing(_Unchanged):
    """Leave the text as it is."""


@AUGMENTERS.register("dropout")
class Dropout(_Unchanged):
    """Leave the text as it is; dropout inside the network is the perturbation."""
