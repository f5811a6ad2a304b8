"""Views made before training starts: the expensive ones, or all of them if features are computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from jointmatch.augment import Augmenter, Chain, Surroundings, make_views, parse
from jointmatch.cache import Cache
from jointmatch.config import AugmentConfig
from jointmatch.data import Splits
from jointmatch.listener import Listener
from jointmatch.training.views import Afterwards, Kept, Source, Views

Similarity = Callable[[Sequence[str], Sequence[str]], np.ndarray]
"""From texts and their views to how similar the two are: 1 for identical."""
_NOWHERE = Surroundings()
MANY = 50_000  # this many cheap views take seconds and deserve a progress bar

Made = dict[tuple[str, int], dict[str, str]]
"""Views made once that are cheap enough not to be kept on disk: (augmenter, number) -> text -> view."""


def ready_views(config: AugmentConfig, surroundings: Surroundings = _NOWHERE) -> tuple[AugmentConfig, list[str]]:
    """The config with ``fallback`` in place of augmenters that lack something here, and a note on each such change.

    What they lack is something of this machine or of the run. Without a fallback the views stay as requested, and
    making them reports what is missing.
    """
    notes: dict[str, str] = {}

    def ready(spec: str) -> str:
        augmenter = parse(spec)
        augmenter.prepare(surroundings)
        lack = augmenter.missing()
        if lack is None or not config.fallback:
            return spec
        notes[spec] = f"{spec} needs {lack}. Until then {config.fallback} is used instead."
        return config.fallback

    def all_ready(specs: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return tuple(map(ready, specs)) if specs else None

    found = replace(
        config,
        weak=ready(config.weak) if not config.weak_per_network else config.weak,
        strong=tuple(dict.fromkeys(map(ready, config.strong))) if not config.strong_per_network else config.strong,
        weak_per_network=all_ready(config.weak_per_network),
        strong_per_network=all_ready(config.strong_per_network),
    )
    return found, list(notes.values())


def split_dear(augmenter: Augmenter) -> tuple[Augmenter | None, Augmenter | None]:
    """Split an augmenter into the part to be made once and the cheap rest that can be applied anew at every step."""
    if not augmenter.dear:
        return None, augmenter
    if not isinstance(augmenter, Chain):
        return augmenter, None
    last = max(i for i, part in enumerate(augmenter.parts) if part.dear) + 1
    dear, cheap = augmenter.parts[:last], augmenter.parts[last:]
    return dear[0] if len(dear) == 1 else Chain(dear), Chain(cheap) if cheap else None


class ViewMaker:
    """Makes and keeps views.

    Args:
        splits: The texts to make views of.
        surroundings: What augmenters may need to know.
        listener: Is told about progress, and about how the views turned out.
        similarity: Needed only if views are compared with their texts.
        made: Views made for other seeds, whose texts are mostly the same; new ones are added.
    """

    def __init__(
        self,
        splits: Splits,
        surroundings: Surroundings,
        listener: Listener,
        similarity: Similarity | None = None,
        made: Made | None = None,
    ) -> None:
        self.splits, self.surroundings, self.listener, self.similarity = splits, surroundings, listener, similarity
        self.made: Made = {} if made is None else made

    def make(self, views: Views, everything: bool, labeled_strong: bool = False) -> None:
        """Make and keep the expensive views, those that are compared with their texts or, if set, ``everything``.

        Labelled texts get strong views only if ``labeled_strong``.
        """
        pool, config = self.splits.pool, views.config
        every_text = [t for part in (self.splits.labeled, pool) if part.weak is None for t in part.texts]
        parts = (pool, self.splits.labeled) if labeled_strong else (pool,)
        strong_texts = [t for part in parts if part.strong is None for t in part.texts]
        for augmenter in (views.weak_augmenter, *views.strong_augmenters):
            augmenter.prepare(self.surroundings)
        keep = everything or config.compared
        views.weak_source = self._source(views, views.weak_augmenter, every_text, keep)
        views.strong_sources = [self._source(views, a, strong_texts, keep) for a in views.strong_augmenters]
        if config.rank and pool.weak is None and pool.strong is None and len(pool):
            self._rank(views)

    def _source(self, views: Views, augmenter: Augmenter, texts: Sequence[str], keep: bool) -> Source:
        if keep:
            return self._kept(views, augmenter, texts)
        dear, cheap = split_dear(augmenter)
        if dear is None:
            return augmenter
        kept = self._kept(views, dear, texts)
        return Afterwards(kept, cheap) if cheap else kept

    def _kept(self, views: Views, augmenter: Augmenter, texts: Sequence[str]) -> Kept:
        texts = list(dict.fromkeys(texts))
        count = views.config.views if augmenter.random else 1
        first = views.network * count  # networks with their own views draw different ones
        columns = [self._column(augmenter, texts, index) for index in range(first, first + count)]
        report = augmenter.report()
        if report and texts:
            tell = self.listener.warn if augmenter.gave_up() else self.listener.note
            tell(f"Views by {augmenter}: {report}.")
        if views.config.min_similarity > 0 and texts:
            columns = self._without_astray(augmenter, texts, columns, views.config.min_similarity)
        return Kept(dict(zip(texts, zip(*columns, strict=True), strict=True)))

    def _column(self, augmenter: Augmenter, texts: list[str], index: int) -> list[str]:
        if augmenter.dear:
            return self._made(augmenter, texts, index)
        known = self.made.setdefault((augmenter.key, index), {})
        new = [text for text in texts if text not in known]
        known.update(zip(new, self._made(augmenter, new, index), strict=True))
        return [known[text] for text in texts]

    def _made(self, augmenter: Augmenter, texts: list[str], index: int) -> list[str]:
        if not augmenter.dear and len(texts) < MANY:
            return make_views(texts, augmenter, index)
        cache = Cache("views")
        self.listener.stage(f"views ({augmenter})", len(texts))
        column = make_views(texts, augmenter, index, cache, self.listener.advance)
        self.listener.done()
        if augmenter.dear and cache.problem:
            self.listener.note(f"Views are not kept for the next run: {cache.problem}.")
        return column

    def _without_astray(
        self, augmenter: Augmenter, texts: list[str], columns: list[list[str]], least: float
    ) -> list[list[str]]:
        """Replace each view that strays too far from its text by the text itself."""
        astray = np.stack([self._alike(texts, column) < least for column in columns])
        self.listener.note(
            f"Views by {augmenter}: {astray.sum()} of {astray.size} ({astray.mean():.1%}) less alike their text than "
            f"{least:g}: the text itself is used instead."
        )
        return [
            [text if gone else view for text, view, gone in zip(texts, column, drop.tolist(), strict=True)]
            for column, drop in zip(columns, astray, strict=True)
        ]

    def _rank(self, views: Views) -> None:
        """Make the view most similar to its text the weak one, and all others the strong ones (SAT)."""
        texts = list(dict.fromkeys(self.splits.pool.texts))
        sources = [s for s in (views.weak_source, *views.strong_sources) if isinstance(s, Kept)]
        columns = [column for source in sources for column in source.columns(texts)]
        order = np.argsort([-self._alike(texts, column) for column in columns], axis=0, kind="stable")
        weak = dict(views.weak_source.views) if isinstance(views.weak_source, Kept) else {}
        kept = [s.views for s in views.strong_sources if isinstance(s, Kept)]
        strong = {text: [v for made in kept for v in made[text]] for text in kept[0]}  # labelled texts keep theirs
        for i, text in enumerate(texts):
            best, *rest = (columns[which][i] for which in order[:, i])
            weak[text], strong[text] = [best], rest
        views.weak_source, views.strong_sources = Kept(weak), [Kept(strong)]

    def _alike(self, texts: Sequence[str], views: Sequence[str]) -> np.ndarray:
        assert self.similarity is not None
        return self.similarity(texts, views)
