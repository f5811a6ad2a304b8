"""Words that belong together: a prime minister, to start something up."""

from __future__ import annotations

from collections.abc import Sequence

from jointmatch.augment.wordnet import function_words
from jointmatch.augment.wordnet.lexicon import Word

_PARTICLES = function_words.words("up out off down away back in on over")


class Compounds:
    """Finds compounds and phrasal verbs in a text.

    Args:
        lemmas: Compounds of two or three words.
    """

    def __init__(self, lemmas: set[str]) -> None:
        self._lemmas = lemmas
        self._firsts = {lemma.partition(" ")[0] for lemma in lemmas}

    def __call__(self, words: Sequence[Word]) -> set[int]:
        """Places of the words that stand in a compound."""
        joined: set[int] = set()
        for i, word in enumerate(words):
            if not word.tail and any(base in self._firsts for base in word.bases):
                joined.update(self._from(words, i))
        return joined

    def _from(self, words: Sequence[Word], i: int) -> set[int]:
        """The places of what starts at one place."""
        joined: set[int] = set()
        for j in range(i + 1, min(i + 4, len(words))):
            if (j == i + 1 or words[j].low in _PARTICLES) and self._known(words[i], " ", words[j]):
                joined.update((i, j))
        of_three = i + 2 < len(words) and not words[i + 1].tail
        if of_three and self._known(words[i], f" {words[i + 1].low} ", words[i + 2]):
            joined.update((i, i + 1, i + 2))
        return joined

    def _known(self, first: Word, between: str, last: Word) -> bool:
        return any(a + between + b in self._lemmas for a in first.bases for b in last.bases)
