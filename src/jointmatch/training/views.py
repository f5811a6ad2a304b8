"""Which text represents a row: the user's own view, or one made by an augmenter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from jointmatch.augment import Augmenter, Places, Reordering, parse, reordered, reorderings_of
from jointmatch.config import AugmentConfig
from jointmatch.data import Texts
from jointmatch.randomness import derive, generator

Rows = Sequence[int] | np.ndarray
Source = Callable[[Sequence[str], np.random.Generator], list[str]]
"""Where views come from: an augmenter, which makes them anew, or ``Kept`` views."""


class Kept:
    """Views made once, one or more of each text; every draw picks one of them."""

    def __init__(self, views: Mapping[str, Sequence[str]]) -> None:
        self.views = views

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        draws = rng.random(len(texts)).tolist()
        found = [self.views[text] for text in texts]
        return [views[int(draw * len(views))] for views, draw in zip(found, draws, strict=True)]

    def columns(self, texts: Sequence[str]) -> list[list[str]]:
        """All views of the texts: the first of each, the second of each, and so on."""
        found = [self.views[text] for text in texts]
        return [list(column) for column in zip(*found, strict=True)]


class Afterwards:
    """Kept views, changed further at every draw."""

    def __init__(self, kept: Kept, augmenter: Augmenter) -> None:
        self.kept, self.augmenter = kept, augmenter

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        return self.augmenter(self.kept(texts, rng), rng)


@dataclass(frozen=True)
class Drawn:
    """Views still to be made: texts, and the steps that then reorder their words.

    The two are separate so that a caller who has the words' tokens can reorder those instead. Make the views only
    once: the generator advances.
    """

    texts: list[str]
    steps: Sequence[Reordering] | None  # None: no reordering, and the texts will hardly ever recur
    rng: np.random.Generator

    def cut(self, shortened: Callable[[str], str]) -> Drawn:
        """The same for texts cut to the part that is read, by ``shortened``."""
        return replace(self, texts=[shortened(text) for text in self.texts])

    def order(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Word numbers of each view, view after view, and how many words each has, for texts of ``counts`` words."""
        places = Places.whole(counts)
        for step in self.steps or ():
            places = step.rearrange(places, self.rng)
        return places.values, places.counts

    def views(self) -> list[str]:
        """The views as texts."""
        return reordered(self.texts, self.order) if self.steps else self.texts


def _written_afresh(source: Source) -> bool:
    augmenter = source.augmenter if isinstance(source, Afterwards) else source
    return isinstance(augmenter, Augmenter) and reorderings_of(augmenter) is None


def _draw(source: Source, texts: list[str], rng: np.random.Generator) -> Drawn:
    if isinstance(source, Kept):
        return Drawn(source(texts, rng), (), rng)
    kept, augmenter = (source.kept, source.augmenter) if isinstance(source, Afterwards) else (None, source)
    steps = reorderings_of(augmenter)
    if steps is None:
        return Drawn(source(texts, rng), None, rng)
    return Drawn(kept(texts, rng) if kept else texts, steps, rng)


class Views:
    """The weak view of a text, which gives the label, and the strong ones, which get the loss.

    A view is a function of the rows and a seed; the user's columns take precedence over augmenters.

    Args:
        config: The augmenters, and how many views of a text are kept.
        seed: The run's.
        network: The network these views belong to, if each has its own.
    """

    def __init__(self, config: AugmentConfig, seed: int, network: int = 0) -> None:
        self.config, self.seed, self.network = config, seed, network
        self.weak_augmenter: Augmenter = parse(config.weak)
        self.strong_augmenters: list[Augmenter] = [parse(spec) for spec in config.strong]
        self.weak_source: Source = self.weak_augmenter
        self.strong_sources: list[Source] = list(self.strong_augmenters)
        self._own: dict[int, list[Views]] = {}

    def for_networks(self, count: int) -> list[Views]:
        """Each network's views if they differ, else a single one for all."""
        config = self.config
        if config.weak_per_network is None and config.strong_per_network is None:
            return [self]
        if count not in self._own:
            self._own[count] = [self._for_network(i) for i in range(count)]
        return self._own[count]

    def _for_network(self, i: int) -> Views:
        weak, strong = self.config.weak_per_network, self.config.strong_per_network
        config = replace(
            self.config,
            weak=weak[i % len(weak)] if weak else self.config.weak,
            strong=(strong[i % len(strong)],) if strong else self.config.strong,
            weak_per_network=None,
            strong_per_network=None,
        )
        return Views(config, derive(self.seed, "views of network", i), i)

    def written_afresh(self) -> bool:
        """Whether any view is written as a new text at every draw, neither kept nor just a reordering of tokens."""
        return any(map(_written_afresh, (self.weak_source, *self.strong_sources)))

    def weak(self, part: Texts, rows: Rows, draw: int) -> list[str]:
        """The weak view of some rows; ``draw`` is the seed of this draw."""
        return self.drawn_weak(part, rows, draw).views()

    def drawn_weak(self, part: Texts, rows: Rows, draw: int) -> Drawn:
        """The same as ``weak``, still to be made."""
        rng = generator(derive(self.seed, draw), "weak")
        if part.weak is not None:
            return Drawn([part.weak[i] for i in rows], (), rng)
        return _draw(self.weak_source, [part.texts[i] for i in rows], rng)

    def strong(self, part: Texts, rows: Rows, draw: int) -> list[str]:
        """The strong view of some rows, each row by one of the augmenters at random."""
        return self.drawn_strong(part, rows, draw).views()

    def drawn_strong(self, part: Texts, rows: Rows, draw: int) -> Drawn:
        """The same as ``strong``, still to be made."""
        if part.strong is not None or len(self.strong_sources) == 1:
            return self.drawn(part, rows, draw, 1)
        texts = [part.texts[i] for i in rows]
        seed = derive(self.seed, draw)
        views = [source(texts, generator(seed, "strong", i)) for i, source in enumerate(self.strong_sources)]
        rng = generator(seed, "choice")
        chosen = rng.integers(len(views), size=len(texts)).tolist()
        return Drawn([views[which][i] for i, which in enumerate(chosen)], None, rng)

    def view(self, part: Texts, rows: Rows, draw: int, which: int) -> list[str]:
        """The weak view of some rows if ``which`` is 0, else the strong view of that kind, counted from 1."""
        return self.drawn(part, rows, draw, which).views()

    def drawn(self, part: Texts, rows: Rows, draw: int, which: int) -> Drawn:
        """The same as ``view``, still to be made."""
        if which == 0:
            return self.drawn_weak(part, rows, draw)
        kind = (which - 1) % len(self.strong_sources)
        rng = generator(derive(self.seed, draw), "strong", kind)
        if part.strong is not None:
            return Drawn([part.strong[i] for i in rows], (), rng)
        return _draw(self.strong_sources[kind], [part.texts[i] for i in rows], rng)

    def fixed_weak(self, part: Texts) -> list[str]:
        """One weak view of every row, for features that are computed once."""
        return part.weak if part.weak is not None else self._columns(self.weak_source, part)[0]

    def fixed_strong(self, part: Texts) -> list[list[str]]:
        """Every kept strong view of every row: the first of each kind, then the second of each, ..."""
        if part.strong is not None:
            return [part.strong]
        kinds = [self._columns(source, part) for source in self.strong_sources]
        return [column for draw in zip_longest(*kinds) for column in draw if column is not None]

    def _columns(self, source: Source, part: Texts) -> list[list[str]]:
        if not isinstance(source, Kept):
            raise TypeError("these views are made afresh at every step: keep them first")
        return source.columns(part.texts) if len(part) else [[]]

    def told(self, weak_column: str | None = None, strong_column: str | None = None) -> str:
        """Where the views come from, in words; a user's column takes precedence over an augmenter."""
        weak, strong = self.config.weak_per_network, self.config.strong_per_network
        weakly = " / ".join(weak) if weak else str(self.weak_augmenter)
        strongly = " / ".join(strong) if strong else " or ".join(map(str, self.strong_augmenters))
        columns = [f"from the column {name!r}" if name else "" for name in (weak_column, strong_column)]
        return f"weak {columns[0] or weakly}, strong {columns[1] or strongly}"

    def __str__(self) -> str:
        return self.told()
