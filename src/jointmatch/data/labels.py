"""Labels as the user wrote them: which rows have none, and the list of classes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from jointmatch.data.blank import is_blank
from jointmatch.errors import DataError, did_you_mean, shortened
from jointmatch.types import Label

UNLABELED = -1  # the class id of a row without a label


def plain(value: Any) -> Any:
    """Convert a numpy scalar to the Python value it stands for; return anything else unchanged."""
    return value.item() if hasattr(value, "item") and not isinstance(value, (str, bytes)) else value


def clean(values: Iterable[Any], unlabeled_value: Label | None = None, where: str = "the labels") -> list[Label | None]:
    """Replace every value that means "no label" by None; leave other labels as written, but strip white space.

    None, NaN, blank text and ``unlabeled_value`` mean "no label". -1 does not: in a file it may be a class,
    such as a bad review; ``without_minus_one`` is for labels that come from Python. ``where`` is for messages.
    """
    labels = [None if is_missing(v) or _same(v, unlabeled_value) else v for v in map(plain, values)]
    for row, value in enumerate(labels, start=1):
        if value is not None and not isinstance(value, (str, int, float, bool)):
            told = f"Row {row} of {where}: a label is {shortened(repr(value))} ({type(value).__name__})"
            raise DataError(f"{told}, wanted text or a number. Give the row one label, or none.")
    return [value.strip() if isinstance(value, str) else value for value in labels]


def without_minus_one(labels: Sequence[Label | None]) -> list[Label | None]:
    """Treat -1 as "no label", as scikit-learn does, unless some labels are fractions: then it is just a number."""
    if any(isinstance(v, float) and not v.is_integer() for v in labels):
        return list(labels)
    return [None if is_minus_one(v) else v for v in labels]


def is_minus_one(value: Label | None) -> bool:
    """Whether a label is -1, as a number or as text."""
    return value.strip() == "-1" if isinstance(value, str) else value == -1


def _same(value: Any, marker: Label | None) -> bool:
    # A CSV can only contain the text "99" where the setting is the number 99.
    return marker is not None and (value == marker or str(value).strip() == str(marker).strip())


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, blank text, NaN, or pandas' NA and NaT."""
    if value is None or (isinstance(value, str) and is_blank(value)):
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")  # pandas' missing values


def find_classes(labels: Iterable[Label | None]) -> list[Label]:
    """Return the distinct labels in order: numbers by value, text by spelling."""
    distinct = set(labels) - {None}
    if not distinct:
        raise DataError(
            "No row has a label. Wanted a few labelled rows per class. Where a file has them in another column, "
            "name it with --label-column."
        )
    if len(distinct) == 1:
        raise DataError(f"All labels are {next(iter(distinct))!r}. Wanted at least two classes.")
    return sorted(distinct, key=lambda v: (isinstance(v, str), v))  # type: ignore[arg-type]


def _whole(label: Label) -> str:
    """Return a label's spelling; a whole number is spelt without decimals."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", str(label).strip())


def class_ids(labels: Iterable[Label | None], classes: Sequence[Label]) -> dict[Label, int]:
    """Map each label to its class id, even if it is spelt differently from the class; unknown labels are left out."""
    ids = {label: i for i, label in enumerate(classes)}
    # The number 1 in JSON or parquet is the text "1" in a CSV, and labels in files have no white space around them:
    # these are the same class.
    by_spelling = {str(label).strip(): i for label, i in ids.items()}
    # pandas turns 1 into 1.0 if a column has blanks, and writes it that way.
    whole = Counter(map(_whole, classes))
    by_whole = {_whole(label): i for label, i in ids.items() if whole[_whole(label)] == 1}
    for value in {v for v in labels if v is not None} - ids.keys():
        found = by_spelling.get(str(value).strip(), by_whole.get(_whole(value)))
        if found is not None:
            ids[value] = found
    return ids


def encode(labels: Sequence[Label | None], classes: Sequence[Label], where: str) -> list[int]:
    """Return class ids, ``UNLABELED`` for None; raise an error that lists any labels outside ``classes``."""
    ids = class_ids(labels, classes)
    unknown = list(dict.fromkeys(v for v in labels if v is not None and v not in ids))
    if unknown:
        shown = ", ".join(shortened(repr(label)) for label in unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        known = ", ".join(shortened(repr(label)) for label in classes[:20]) + (", ..." if len(classes) > 20 else "")
        hint = did_you_mean(str(unknown[0]), map(str, classes))
        count = sum(v is not None and v not in ids for v in labels)
        raise DataError(
            f"{where} has labels that training does not have, in {count} of {len(labels)} rows: {shown}.{hint} Known: "
            f"{known}. Remove these rows, or label some such texts for training."
        )
    return [UNLABELED if v is None else ids[v] for v in labels]
