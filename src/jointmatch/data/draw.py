"""Draw a few labelled texts per class from a larger set, given a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from jointmatch.data.blank import is_blank
from jointmatch.data.splits import Rows, same_text
from jointmatch.errors import DataError
from jointmatch.randomness import generator


def draw_rows(labels: Sequence[Any], per_class: int, seed: int) -> list[int]:
    """Draw ``per_class`` rows of every class, in random order; the same seed draws the same rows.

    A larger draw contains the smaller ones, so that learning curves are nested.
    """
    order = generator(seed, "draw").permutation(len(labels))
    taken: Counter[Any] = Counter()
    rows = []
    for row in order.tolist():
        if labels[row] is not None and taken[labels[row]] < per_class:
            taken[labels[row]] += 1
            rows.append(row)
    return rows


def drawable(source: Rows, *others: Rows | None) -> Rows:
    """Return the rows that may be drawn: each text once, and none that also appears in dev or test."""
    taken = {same_text(text) for part in others if part is not None for text in part.texts}
    first: dict[str, int] = {}
    for i, text in enumerate(map(same_text, source.texts)):
        if not is_blank(text) and text not in taken:
            first.setdefault(text, i)
    return source.rows(list(first.values()))


def few_labels(source: Rows, per_class: int, seed: int) -> tuple[Rows, Rows]:
    """Split rows into ``per_class`` labelled ones per class and all the others."""
    if per_class < 1:
        raise DataError(f"{per_class} labels per class were asked for, wanted at least 1.")
    sizes = Counter(label for label in source.labels if label is not None)
    short = min(sizes, key=lambda label: sizes[label], default=None)
    if short is not None and sizes[short] < per_class:
        raise DataError(f"{per_class} labels per class were asked for, but {short!r} has {sizes[short]}.")
    rows = draw_rows(source.labels, per_class, seed)
    drawn = set(rows)
    return source.rows(rows), source.rows([i for i in range(len(source)) if i not in drawn])
