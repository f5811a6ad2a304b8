"""Which text stands for a row: the user's own view, or one that an augmenter makes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jointmatch.augment import parse
from jointmatch.config import AugmentConfig
from jointmatch.data import Texts
from jointmatch.randomness import derive, generator

Rows = Sequence[int] | np.ndarray


class Views:
    """The weak view of a text, which gives the label, and the strong ones, which get the loss.

    A view is a function of the rows and a seed; the user's columns win over augmenters.
    """

    def __init__(self, config: AugmentConfig, mask_token: str | None, seed: int) -> None:
        self.config, self.mask_token, self.seed = config, mask_token, seed
        self.weak_chain = parse(config.weak, mask_token)
        self.strong_chains = [parse(spec, mask_token) for spec in config.strong]

    def for_networks(self, count: int) -> list[Views]:
        """The views of each network where they differ, else one for all."""
        weak, strong = self.config.weak_per_network, self.config.strong_per_network
        if weak is None and strong is None:
            return [self]
        own = []
        for i in range(count):
            config = AugmentConfig(
                weak[i % len(weak)] if weak else self.config.weak,
                (strong[i % len(strong)],) if strong else self.config.strong,
            )
            own.append(Views(config, self.mask_token, derive(self.seed, "views of network", i)))
        return own

    def weak(self, part: Texts, rows: Rows, draw: int) -> list[str]:
        """The weak view of some rows; ``draw`` is the seed of this very draw."""
        if part.weak is not None:
            return [part.weak[i] for i in rows]
        return self.weak_chain([part.texts[i] for i in rows], generator(derive(self.seed, draw), "weak"))

    def strong(self, part: Texts, rows: Rows, draw: int) -> list[str]:
        """The strong view of some rows, each row by one of the augmenters at random."""
        views = self._each_strong(part, rows, draw)
        chosen = generator(derive(self.seed, draw), "choice").integers(len(views), size=len(rows)).tolist()
        return [views[which][i] for i, which in enumerate(chosen)]

    def fixed_weak(self, part: Texts) -> list[str]:
        """One weak view of every row, for features that are computed once."""
        return self.weak(part, range(len(part)), 0)

    def fixed_strong(self, part: Texts) -> list[list[str]]:
        """One view of every row by each strong augmenter."""
        return self._each_strong(part, range(len(part)), 0)

    def _each_strong(self, part: Texts, rows: Rows, draw: int) -> list[list[str]]:
        if part.strong is not None:
            return [[part.strong[i] for i in rows]]
        texts = [part.texts[i] for i in rows]
        seed = derive(self.seed, draw)
        return [chain(texts, generator(seed, "strong", i)) for i, chain in enumerate(self.strong_chains)]

    def __str__(self) -> str:
        weak, strong = self.config.weak_per_network, self.config.strong_per_network
        weakly = " / ".join(weak) if weak else str(self.weak_chain)
        strongly = " / ".join(strong) if strong else " or ".join(map(str, self.strong_chains))
        return f"weak {weakly}, strong {strongly}"
