"""Synonyms from WordNet 3.0."""

from jointmatch.augment.wordnet.synonym import Synonym

__all__ = ["Synonym"]
