"""Augmenters, which turn texts into views. Each one is a file; to add one, write the file and import it here."""

from jointmatch.augment.base import AUGMENTERS, Augmenter, Surroundings, WordAugmenter
from jointmatch.augment.combine import Chain, OneOf, parse
from jointmatch.augment.cutoff import Cutoff
from jointmatch.augment.deletion import Deletion
from jointmatch.augment.insertion import Insertion
from jointmatch.augment.made import make_views
from jointmatch.augment.masking import Masking
from jointmatch.augment.mlm import MaskedLanguageModel
from jointmatch.augment.nothing import Dropout, Nothing
from jointmatch.augment.reordering import Places, Reordering, reordered, reorderings_of, spaced_words
from jointmatch.augment.swap import Swap
from jointmatch.augment.tfidf import TfIdf
from jointmatch.augment.translation import BackTranslation, add_engine
from jointmatch.augment.wordnet import Synonym

__all__ = [
    "AUGMENTERS",
    "Augmenter",
    "BackTranslation",
    "Chain",
    "Cutoff",
    "Deletion",
    "Dropout",
    "Insertion",
    "MaskedLanguageModel",
    "Masking",
    "Nothing",
    "OneOf",
    "Places",
    "Reordering",
    "Surroundings",
    "Swap",
    "Synonym",
    "TfIdf",
    "WordAugmenter",
    "add_engine",
    "make_views",
    "parse",
    "reordered",
    "reorderings_of",
    "spaced_words",
]
