"""Read, check and split data files."""

from jointmatch.data.labels import UNLABELED
from jointmatch.data.lists import splits_of_lists
from jointmatch.data.load import as_texts, load_splits
from jointmatch.data.seen import SeenTexts
from jointmatch.data.splits import Rows, Splits, Texts, make_splits

__all__ = [
    "UNLABELED",
    "Rows",
    "SeenTexts",
    "Splits",
    "Texts",
    "as_texts",
    "load_splits",
    "make_splits",
    "splits_of_lists",
]
