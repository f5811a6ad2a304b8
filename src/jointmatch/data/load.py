"""From files, lists or data frames to splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jointmatch.config import DataConfig
from jointmatch.data import columns
from jointmatch.data.draw import drawable, few_labels
from jointmatch.data.labels import clean, is_missing
from jointmatch.data.splits import Rows, Splits, make_splits
from jointmatch.data.tables import Table, read_table
from jointmatch.errors import DataError


def as_text(value: Any) -> str:
    """A cell as text; what is missing becomes the empty text."""
    if isinstance(value, str):
        return value
    return "" if is_missing(value) else str(value)


def as_table(source: str | Path | Table | Any, encoding: str = "utf-8") -> Table:
    """A file, a dict of columns or a data frame as a table."""
    if isinstance(source, (str, Path)):
        return read_table(source, encoding)
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        return {str(name): list(source[name]) for name in source.columns}
    if isinstance(source, dict):
        return {str(name): list(values) for name, values in source.items()}
    raise DataError(f"Got {type(source).__name__} as data, wanted a file, a DataFrame or a dict of columns.")


def load_splits(
    labeled: Any,
    unlabeled: Sequence[Any] = (),
    dev: Any = None,
    test: Any = None,
    config: DataConfig | None = None,
    labels_per_class: int | None = None,
    seed: int = 0,
) -> Splits:
    """Read every source, find its columns and make splits.

    Columns found in the labelled source are looked for by the same name in the others.
    With ``labels_per_class`` only that many labels are drawn; the other rows join the pool.
    """
    config = config or DataConfig()
    table, where = as_table(labeled, config.encoding), _name(labeled, "labelled data")
    label_hint = columns.label_column(table, config.label_column, where)
    text = columns.text_column(table, config.text_column, where, avoid=label_hint)
    label = columns.require_label_column(table, config.label_column, text, where)

    def rows(source: Any, kind: str, labels_needed: bool) -> Rows:
        other, name = as_table(source, config.encoding), _name(source, kind)
        own_text = text if text in other else columns.text_column(other, config.text_column, name, avoid=label)
        own_label: str | None = label if label in other else columns.label_column(other, None, name)
        if labels_needed:
            own_label = own_label or columns.require_label_column(other, config.label_column, own_text, name)
        return _rows(other, own_text, own_label, config, name, views_needed=False)

    given = _rows(table, text, label, config, where)
    extra = [rows(source, "unlabelled data", False) for source in unlabeled]
    dev_rows = None if dev is None else rows(dev, "dev data", True)
    test_rows = None if test is None else rows(test, "test data", True)
    if labels_per_class is not None:
        given, rest = few_labels(drawable(given, dev_rows, test_rows), labels_per_class, seed)
        extra.append(rest)
    return make_splits(given, extra, dev_rows, test_rows, config.conflicts, text, label)


def read_rows(source: Any, config: DataConfig) -> Rows:
    """The rows of one labelled source."""
    table, where = as_table(source, config.encoding), _name(source, "data")
    label_hint = columns.label_column(table, config.label_column, where)
    text = columns.text_column(table, config.text_column, where, avoid=label_hint)
    label = columns.require_label_column(table, config.label_column, text, where)
    return _rows(table, text, label, config, where)


def splits_of_lists(
    texts: Iterable[Any],
    labels: Iterable[Any],
    unlabeled: Iterable[Any] | None = None,
    config: DataConfig | None = None,
) -> Splits:
    """Splits from plain sequences, as the estimator gets them."""
    config = config or DataConfig()
    given = Rows([as_text(t) for t in texts], clean(labels, config.unlabeled_value))
    extra = [as_text(t) for t in unlabeled] if unlabeled is not None else []
    return make_splits(given, [Rows(extra, [None] * len(extra))], conflicts=config.conflicts)


def _rows(
    table: Table, text: str, label: str | None, config: DataConfig, where: str, views_needed: bool = True
) -> Rows:
    texts = [as_text(v) for v in table[text]]
    given = table[label] if label else [None] * len(texts)
    labels = clean(given, config.unlabeled_value)
    views: dict[str, list[str]] = {}
    for view, named in (("weak", config.weak_column), ("strong", config.strong_column)):
        # Files without the user's views stand in with their texts; the labelled file has to have them.
        if named is not None and (named in table or views_needed):
            values = columns.named_column(table, named, where, f"--{view}-column")
            views[view] = [as_text(v) or t for v, t in zip(values, texts, strict=True)]
    return Rows(texts, labels, **views)


def _name(source: Any, kind: str) -> str:
    return str(source) if isinstance(source, (str, Path)) else kind
