"""Words that belong together: a prime minister, to start something up."""

from __future__ import annotations

from collections.abc import Sequence

from jointmatch.augment.wordnet.function_words import words
from jointmatch.augment.wordnet.tokens import Token

_PARTICLES = words("up out off down away back in on over")


class Compounds:
    """Finds compounds and phrasal verbs in a text.

    Args:
        lemmas: Compounds of two or three words.
    """

    def __init__(self, lemmas: set[str]) -> None:
        self._lemmas = lemmas
        self._firsts = {lemma.partition(" ")[0] for lemma in lemmas}

    def __call__(self, tokens: Sequence[Token], bases: Sequence[Sequence[str]]) -> set[int]:
        """Places of the words that stand in a compound; ``bases`` are each token's possible lemmas."""
        joined: set[int] = set()
        for i in range(len(tokens) - 1):
            firsts = [] if tokens[i].tail else [base for base in bases[i] if base in self._firsts]
            if firsts:
                joined.update(self._from(i, firsts, tokens, bases))
        return joined

    def _from(self, i: int, firsts: list[str], tokens: Sequence[Token], bases: Sequence[Sequence[str]]) -> set[int]:
        """The places of what starts at one place."""
        joined: set[int] = set()
        for j in range(i + 1, min(i + 4, len(tokens))):
            if (j == i + 1 or tokens[j].low in _PARTICLES) and self._known(firsts, " ", bases[j]):
                joined.update((i, j))
        of_three = i + 2 < len(tokens) and not tokens[i + 1].tail
        if of_three and self._known(firsts, f" {tokens[i + 1].low} ", bases[i + 2]):
            joined.update((i, i + 1, i + 2))
        return joined

    def _known(self, firsts: Sequence[str], between: str, lasts: Sequence[str]) -> bool:
        return any(first + between + last in self._lemmas for first in firsts for last in lasts)
