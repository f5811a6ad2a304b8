"""Words that belong together, as in "a prime minister" or "to start something up"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jointmatch.augment.wordnet import function_words
from jointmatch.augment.wordnet.lexicon import Word

_PARTICLES = function_words.words("up out off down away back in on over")


class Compounds:
    """Finds compounds and phrasal verbs in a text.

    Args:
        lemmas: Compounds of two or three words.
    """

    def __init__(self, lemmas: set[str]) -> None:
        self._pairs: dict[str, set[str]] = {}  # first word -> what may follow it
        self._triples: dict[str, set[str]] = {}  # the same for two words that follow
        for lemma in lemmas:
            first, _, rest = lemma.partition(" ")
            (self._triples if " " in rest else self._pairs).setdefault(first, set()).add(rest)

    def __call__(self, words: Sequence[Word]) -> set[int]:
        """Return the positions of all words that are part of a compound."""
        joined: set[int] = set()
        for i, word in enumerate(words):
            if word.tail:
                continue
            for base in word.bases:
                if base in self._pairs:
                    joined.update(_second(words, i, self._pairs[base]))
                if base in self._triples:
                    joined.update(_third(words, i, self._triples[base]))
        return joined


def _second(words: Sequence[Word], i: int, known: set[str]) -> Iterator[int]:
    """Yield the positions of a two-word compound that starts at ``i``; a particle may stand further away."""
    for j in range(i + 1, min(i + 4, len(words))):
        word = words[j]
        if (j == i + 1 or word.low in _PARTICLES) and not known.isdisjoint(word.bases):
            yield from (i, j)


def _third(words: Sequence[Word], i: int, known: set[str]) -> Sequence[int]:
    """Return the positions of a three-word compound that starts at ``i``."""
    if i + 2 >= len(words) or words[i + 1].tail:
        return ()
    middle = words[i + 1].low
    return (i, i + 1, i + 2) if any(f"{middle} {base}" in known for base in words[i + 2].bases) else ()
