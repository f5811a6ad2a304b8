"""Make splits from files or data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jointmatch.config import DataConfig
from jointmatch.data import columns
from jointmatch.data.draw import drawable, few_labels
from jointmatch.data.labels import clean, is_missing
from jointmatch.data.markers import doubtful_marker, refuse_marker
from jointmatch.data.splits import Rows, Splits, make_splits
from jointmatch.data.tables import Format, Table, format_of, read_table
from jointmatch.errors import DataError, shortened


def as_text(value: Any) -> str:
    """Return a cell as text; a missing value becomes the empty string."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list, tuple, set, bytes)) or getattr(value, "ndim", 0) > 0:
        raise DataError(f"a text is {shortened(repr(value))} ({type(value).__name__}), wanted text or a number.")
    return "" if is_missing(value) else str(value)


def as_texts(values: Iterable[Any], where: str = "the texts", before: int = 0) -> list[str]:
    """Return a column as texts; errors name the row of a bad cell, counting the ``before`` rows that precede these."""
    texts = []
    for row, value in enumerate(values, start=before + 1):
        try:
            texts.append(as_text(value))
        except DataError as error:
            raise DataError(f"Row {row} of {where}: {error} Make it one text, or name another column.") from None
    return texts


def as_table(source: str | Path | Table | Any, encoding: str = "utf-8") -> Table:
    """Return a file, a dict of columns or a data frame as a table."""
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

    The other sources are searched for columns of the same names as those found in the labelled source.
    With ``labels_per_class`` only that many labels are drawn; the other rows join the pool.
    The user's views are required for the pool: in every unlabelled source, or in the labelled one if it is alone.
    """
    config = config or DataConfig()
    table, where = as_table(labeled, config.encoding), _name(labeled, "labelled data")
    label_hint = columns.label_column(table, config.label_column, where)
    text = columns.text_column(table, config.text_column, where, avoid=label_hint)
    label = columns.require_label_column(table, config.label_column, text, where)
    notes = columns.doubtful_header(table, text, config.text_column, _format(labeled), where)

    def rows(source: Any, kind: str, labels_needed: bool) -> Rows:
        other, name = as_table(source, config.encoding), _name(source, kind)
        own_text = text
        if text not in other:
            own_text = columns.text_column(other, config.text_column, name, avoid=label)
            notes.extend(columns.doubtful_header(other, own_text, config.text_column, _format(source), name))
        own_label: str | None = label if label in other else columns.label_column(other, None, name)
        if labels_needed:
            own_label = own_label or columns.require_label_column(other, config.label_column, own_text, name)
        found = _rows(other, own_text, own_label, config, name, views_needed=kind == "unlabelled data")
        return replace(found, file=_name(source, "") or None)

    given = _rows(table, text, label, config, where, views_needed=not unlabeled)
    refuse_marker(given.labels, config.unlabeled_value, where)
    notes += doubtful_marker(given.labels, config.unlabeled_value, where)
    extra = [rows(source, "unlabelled data", False) for source in unlabeled]
    dev_rows = None if dev is None else rows(dev, "dev data", True)
    test_rows = None if test is None else rows(test, "test data", True)
    if labels_per_class is not None:
        given, rest = few_labels(drawable(given, dev_rows, test_rows), labels_per_class, seed)
        extra.append(_with_own_views(rest, config))
        notes += _lacking_views(rest, len(rest), config, where)
    notes += _lacking_views(given, given.labels.count(None), config, where)
    given = _with_own_views(given, config)
    splits = make_splits(given, extra, dev_rows, test_rows, config.conflicts, text, label)
    splits.notes[:0] = notes
    return splits


def labeled_rows(table: Table, path: Path, config: DataConfig, warn: Callable[[str], None]) -> Rows:
    """Return the rows of a labelled file that has been read; ``warn`` is called with anything that looks wrong."""
    where = str(path)
    label_hint = columns.label_column(table, config.label_column, where)
    text = columns.text_column(table, config.text_column, where, avoid=label_hint)
    label = columns.require_label_column(table, config.label_column, text, where)
    for doubt in columns.doubtful_header(table, text, config.text_column, format_of(path), where):
        warn(doubt)
    return _rows(table, text, label, config, where)


def _rows(
    table: Table, text: str, label: str | None, config: DataConfig, where: str, views_needed: bool = True
) -> Rows:
    texts = as_texts(table[text], f"{text!r} in {where}")
    given = table[label] if label else [None] * len(texts)
    labels = clean(given, config.unlabeled_value, f"{label!r} in {where}")
    views: dict[str, list[str]] = {}
    for view, named in (("weak", config.weak_column), ("strong", config.strong_column)):
        if named is not None and (named in table or views_needed):
            values = columns.named_column(table, named, where, f"--{view}-column")
            written = as_texts(values, f"{named!r} in {where}")
            views[view] = [v or t for v, t in zip(written, texts, strict=True)]
    return Rows(texts, labels, views.get("weak"), views.get("strong"))


def _with_own_views(rows: Rows, config: DataConfig) -> Rows:
    """Use each text as its own view if only the pool's files have the user's views."""
    lacked = dict(_lacked(rows, config))
    return replace(
        rows,
        weak=rows.texts if "weak" in lacked else rows.weak,
        strong=rows.texts if "strong" in lacked else rows.strong,
    )


def _lacking_views(rows: Rows, unlabeled: int, config: DataConfig, where: str) -> list[str]:
    return [
        f"{where} has no column {named!r} (--{view}-column): its {unlabeled} unlabelled text(s) stand as their own "
        f"{view} views."
        for view, named in _lacked(rows, config)
        if unlabeled
    ]


def _lacked(rows: Rows, config: DataConfig) -> list[tuple[str, str]]:
    """Return the views (and their columns) that the user named but these rows lack."""
    wanted = (("weak", config.weak_column, rows.weak), ("strong", config.strong_column, rows.strong))
    return [(view, named) for view, named, found in wanted if named is not None and found is None]


def _format(source: Any) -> Format | None:
    return format_of(Path(source)) if isinstance(source, (str, Path)) else None


def _name(source: Any, kind: str) -> str:
    return str(source) if isinstance(source, (str, Path)) else kind
