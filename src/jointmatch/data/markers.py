"""Labels that read like "no label", which people and other programs write into rows that have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jointmatch.data.labels import is_minus_one
from jointmatch.errors import DataError
from jointmatch.types import Label

MARKERS = {
    "n/a", "na", "nan", "none", "null", "?", "-", "--", "tbd", "todo", "unlabeled", "unlabelled", "no label",
}  # fmt: skip
UNSURE = {  # as often a class that texts are meant to be sorted into
    "unknown", "undefined", "unspecified", "unassigned", "unclassified", "uncategorized", "uncategorised",
}  # fmt: skip
COMMAND_LINE = "--set data.unlabeled_value={}"
PYTHON = "unlabeled_value={!r}"


def is_marker(label: Label) -> bool:
    """Whether a label is a word for "no label"; -1 alone does not count as one."""
    return str(label).strip().casefold() in MARKERS


def refuse_marker(
    labels: Sequence[Label | None], unlabeled_value: Label | None, where: str, option: str = COMMAND_LINE
) -> None:
    """Raise an error if most rows have such a label: learnt as a class, it would be predicted for nearly every text.

    Args:
        labels: One per row.
        unlabeled_value: What the user said means "no label"; if given, nothing is checked.
        where: Name of the data, for the message.
        option: How the user can set ``unlabeled_value``, for the message.
    """
    label, count = _in_most_rows(labels, unlabeled_value)
    if label is not None and (is_marker(label) or is_minus_one(label)):
        told = f'{where}: {count} of {len(labels)} rows have the label {str(label)!r}, which reads like "no label".'
        advice = f"If that is what it means, add {option.format(label)}. If it is a class, add {option.format('')}."
        raise DataError(f"{told} {advice}")


def doubtful_marker(
    labels: Sequence[Label | None], unlabeled_value: Label | None, where: str, option: str = COMMAND_LINE
) -> list[str]:
    """Return a warning if most rows have a label that may well be a class, but may also mean "no label".

    The arguments are those of ``refuse_marker``.
    """
    label, count = _in_most_rows(labels, unlabeled_value)
    if label is None or str(label).strip().casefold() not in UNSURE:
        return []
    return [
        f"{where}: {count} of {len(labels)} rows ({100 * count / len(labels):.0f} %) have the label {str(label)!r}, "
        f"which was taken as a class. If it means that a text has no label, add {option.format(label)}."
    ]


def _in_most_rows(labels: Sequence[Label | None], unlabeled_value: Label | None) -> tuple[Label | None, int]:
    """Return the label of more than half of the rows and their number, if there are two classes besides."""
    counts = Counter(label for label in labels if label is not None)
    if unlabeled_value is not None or len(counts) < 3:
        return None, 0
    ((label, count),) = counts.most_common(1)
    return (label, count) if count > len(labels) / 2 else (None, 0)
