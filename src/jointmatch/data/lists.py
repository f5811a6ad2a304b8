"""Make splits from Python lists, where -1 means "no label", as in scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jointmatch.config import DataConfig
from jointmatch.data.labels import clean, without_minus_one
from jointmatch.data.load import as_texts
from jointmatch.data.markers import PYTHON, doubtful_marker, refuse_marker
from jointmatch.data.splits import Rows, Splits, make_splits
from jointmatch.errors import DataError
from jointmatch.types import Label

MINUS_ONE_AS_CLASS = 'If -1 is a class, set unlabeled_value="": then only None, NaN and "" mean that a text has none.'


def splits_of_lists(
    texts: Iterable[Any],
    labels: Iterable[Any],
    unlabeled: Iterable[Any] | None = None,
    config: DataConfig | None = None,
    dev: tuple[Iterable[Any], Iterable[Any]] | None = None,
) -> Splits:
    """Make splits from plain sequences, as passed to the estimator; -1 means "no label" unless another value is named.

    ``dev`` is a pair of texts and labels in which every row must have a label.
    """
    config = config or DataConfig()
    written = clean(labels, config.unlabeled_value)
    kept = without_minus_one(written) if config.unlabeled_value is None else written
    taken = kept.count(None) - written.count(None)
    if taken:
        _check_classes_left(kept, taken)
    refuse_marker(kept, config.unlabeled_value, "The labels", PYTHON)
    given = Rows(as_texts(texts), kept)
    extra = as_texts(unlabeled, "the unlabelled texts") if unlabeled is not None else []
    scored = None
    if dev is not None:
        scored = Rows(as_texts(dev[0], "the dev texts"), clean(dev[1], config.unlabeled_value, "the dev labels"))
    splits = make_splits(given, [Rows(extra, [None] * len(extra))], scored, conflicts=config.conflicts)
    # If most rows are -1 and there are no other unlabelled texts, this is scikit-learn's way of passing the pool.
    if taken and (taken < len(kept) / 2 or unlabeled is not None):
        splits.notes.insert(0, f'-1 was taken as "no label" in {taken} row(s). {MINUS_ONE_AS_CLASS}')
    splits.notes[:0] = doubtful_marker(kept, config.unlabeled_value, "The labels", PYTHON)
    return splits


def _check_classes_left(labels: Sequence[Label | None], taken: int) -> None:
    left = set(labels) - {None}
    if len(left) < 2:
        classes = f"one class ({next(iter(left))!r})" if left else "no class"
        raise DataError(
            f'-1 was taken as "no label" in {taken} row(s), which leaves {classes}; wanted at least two. '
            f"{MINUS_ONE_AS_CLASS}"
        )
