"""Which text stands for a row: the user's own view, or one that an augmenter makes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jointmatch.augment import Chain, parse
from jointmatch.config import AugmentConfig
from jointmatch.data import Texts
from jointmatch.randomness import generator


class Views:
    """The weak view of a text, which gives the label, and the strong ones, which get the loss.

    A view is a function of (seed, step) and the rows; the user's columns win over augmenters.
    """

    def __init__(self, config: AugmentConfig, mask_token: str | None, seed: int) -> None:
        self.weak_chain = parse(config.weak, mask_token)
        self.strong_chains = [parse(spec, mask_token) for spec in config.strong]
        self.seed = seed

    def weak(self, part: Texts, rows: Sequence[int] | np.ndarray, step: int, purpose: str) -> list[str]:
        """The weak view of some rows at a step; ``purpose`` keeps labelled and unlabelled draws apart."""
        if part.weak is not None:
            return [part.weak[i] for i in rows]
        return self._augment(self.weak_chain, part, rows, "weak", purpose, step)

    def strong(self, part: Texts, rows: Sequence[int] | np.ndarray, step: int) -> list[str]:
        """The strong view of some rows at a step, each row by one of the augmenters at random."""
        if part.strong is not None:
            return [part.strong[i] for i in rows]
        views = [self._augment(chain, part, rows, "strong", i, step) for i, chain in enumerate(self.strong_chains)]
        chosen = generator(self.seed, "choice", step).integers(len(views), size=len(rows)).tolist()
        return [views[which][i] for i, which in enumerate(chosen)]

    def fixed_weak(self, part: Texts) -> list[str]:
        """One weak view of every row, for features that are computed once."""
        return self.weak(part, range(len(part)), 0, "fixed")

    def fixed_strong(self, part: Texts) -> list[list[str]]:
        """One view of every row by each strong augmenter."""
        if part.strong is not None:
            return [part.strong]
        rows = range(len(part))
        return [self._augment(chain, part, rows, "strong", i, 0) for i, chain in enumerate(self.strong_chains)]

    def _augment(self, chain: Chain, part: Texts, rows: Sequence[int] | np.ndarray, *path: str | int) -> list[str]:
        return chain([part.texts[i] for i in rows], generator(self.seed, *path))

    def __str__(self) -> str:
        return f"weak {self.weak_chain}, strong {' or '.join(map(str, self.strong_chains))}"
