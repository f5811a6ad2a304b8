"""Make views that depend on the text alone, and cache expensive ones on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from jointmatch.augment.base import Augmenter
from jointmatch.cache import Cache, key
from jointmatch.randomness import generator

_T = TypeVar("_T")
_ENCODING = ("utf-8", "surrogatepass")


def make_views(
    texts: Sequence[str],
    augmenter: Augmenter,
    index: int = 0,
    cache: Cache | None = None,
    progress: Callable[[int], object] = lambda done: None,
    chunk: int = 512,
) -> list[str]:
    """Make one view of each text, independent of the other texts, their order and the seed of the run.

    Expensive views are looked up in the cache first and stored chunk by chunk, so that a killed run loses
    one chunk at most; the view of a repeated text is made only once. If an augmenter fails on a text, the
    text itself is used as its view, and the next run tries again.

    Args:
        texts: The texts.
        augmenter: What makes the views.
        index: Which view of each text to make; another index draws another view.
        cache: Where expensive views are kept; ``views`` in the user's cache folder if not given.
        progress: Called with the number of texts done since the last call.
        chunk: How many views are made and stored at once.
    """
    if not augmenter.dear:
        return _made_afresh(texts, augmenter, index, progress, chunk)
    cache = cache or Cache("views")
    about = augmenter.key
    keys = [key(about, str(index), text) for text in texts]
    views = {at: value.decode(*_ENCODING) for at, value in cache.get(keys).items()}
    todo = {at: text for at, text in zip(keys, texts, strict=True) if at not in views}  # each repeated text once
    progress(len(texts) - len(todo))
    for part in _parts(list(todo), chunk):
        made = _attempt(augmenter, [todo[at] for at in part], index, about)
        new = {at: view for at, view in zip(part, made, strict=True) if view is not None}
        cache.put({at: view.encode(*_ENCODING) for at, view in new.items()})
        views |= {at: new.get(at, todo[at]) for at in part}
        progress(len(part))
    return [views[at] for at in keys]


def _made_afresh(
    texts: Sequence[str], augmenter: Augmenter, index: int, progress: Callable[[int], object], chunk: int
) -> list[str]:
    about = augmenter.key
    views: list[str] = []
    for part in _parts(list(texts), chunk):
        made = _attempt(augmenter, part, index, about)
        views += [text if view is None else view for text, view in zip(part, made, strict=True)]
        progress(len(part))
    return views


def _attempt(augmenter: Augmenter, texts: Sequence[str], index: int, about: str) -> Sequence[str | None]:
    return augmenter.attempt(texts, [generator(0, "view", about, index, text) for text in texts])


def _parts(items: list[_T], size: int) -> list[list[_T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
