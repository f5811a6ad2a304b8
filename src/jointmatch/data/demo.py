"""The corpus that ships with the package: six kinds of message to a software company's support desk."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from jointmatch.data.draw import few_labels
from jointmatch.data.labels import clean
from jointmatch.data.splits import Rows, Splits, make_splits
from jointmatch.data.tables import read_table


def corpus_file(part: str) -> Path:
    """Return the path of the ``train`` or the ``test`` part."""
    return Path(str(resources.files("jointmatch") / "data" / "corpus" / f"{part}.csv"))


def demo_splits(labels_per_class: int, seed: int) -> Splits:
    """Draw a few labels per class by seed; the rest of the training part is unlabelled, and the test part is fixed."""
    train, test = (_rows(corpus_file(part)) for part in ("train", "test"))
    labeled, rest = few_labels(train, labels_per_class, seed)
    return make_splits(labeled, [rest], test=test, text_column="text")


def _rows(path: Path) -> Rows:
    table = read_table(path)
    return Rows(table["text"], clean(table["label"]))
