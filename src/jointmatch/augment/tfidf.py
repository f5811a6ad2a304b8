"""TF-IDF-guided word replacement, after UDA (Xie et al. 2019, appendix)."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jointmatch.augment.base import AUGMENTERS, RatedAugmenter, Surroundings, split_units
from jointmatch.augment.casing import cased_like
from jointmatch.augment.punctuation import split_punctuation


def replacement_chances(tf_idf: np.ndarray, rate: float) -> np.ndarray:
    """min(p (C - TFIDF(x_i)) / Z, 1): C is the largest, Z the mean of C - TFIDF; ``rate`` for all if they are equal."""
    gaps = tf_idf.max() - tf_idf  # (words,)
    mean = gaps.mean()
    if mean == 0:
        return np.full(len(tf_idf), rate)
    return np.minimum(rate * gaps / mean, 1)


def draw_shares(scores: np.ndarray) -> np.ndarray:
    """max_j S(j) - S(w), normalised to sum to 1: how often each word is drawn as a replacement."""
    gaps = scores.max() - scores  # (vocabulary,)
    total = gaps.sum()
    return gaps / total if total > 0 else np.full(len(scores), 1 / len(scores))


@dataclass(frozen=True)
class Statistics:
    """How informative each word of a corpus is, and how often it is drawn."""

    texts: int
    idf: dict[str, float]
    words: list[str]
    sums: np.ndarray  # cumulative sums of the shares, in the order of ``words``

    def tf_idf(self, words: Sequence[str]) -> np.ndarray:
        """Return the TF-IDF of each of a text's words; a word missing from the corpus counts as in one of its texts."""
        counts, unseen = Counter(words), math.log(self.texts)
        return np.array([counts[w] / len(words) * self.idf.get(w, unseen) for w in words])

    def word_at(self, draw: float) -> str:
        """Return the word drawn by a number from 0 to 1."""
        return self.words[min(int(np.searchsorted(self.sums, draw, side="right")), len(self.words) - 1)]


def statistics(texts: Iterable[Sequence[str]]) -> Statistics | None:
    """Compute idf(w) = log(N / texts with w) and S(w) = freq(w) idf(w) of lists of words; None if all are empty."""
    number, frequency, containing = 0, Counter[str](), Counter[str]()
    for words in texts:
        number += 1
        frequency.update(words)
        containing.update(set(words))
    if not frequency:
        return None
    words = sorted(frequency)  # so that the order of the texts does not matter
    idf = {w: math.log(number / containing[w]) for w in words}
    scores = np.array([frequency[w] * idf[w] for w in words])
    return Statistics(number, idf, words, np.cumsum(draw_shares(scores)))


class Corpus:
    """A set of texts with their statistics, which are computed on first use."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @cached_property
    def digest(self) -> str:
        """Digest of the texts, independent of their order; empty if there are none."""
        digest = hashlib.blake2b(digest_size=8)
        for text in sorted(self.texts):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest() if self.texts else ""

    @cached_property
    def statistics(self) -> dict[str, Statistics | None]:
        """Statistics of the texts with spaces (under " ") and without (under ""), whose words are characters."""
        kinds: dict[str, list[list[str]]] = {" ": [], "": []}
        for text in self.texts:
            units, joint = split_units(text)
            kinds[joint].append([word for unit in units if (word := split_punctuation(unit)[1].lower())])
        return {joint: statistics(texts) for joint, texts in kinds.items()}


@AUGMENTERS.register("tfidf")
class TfIdf(RatedAugmenter):
    """Replace words that tell little by others that tell little, ``rate`` of them on average (UDA).

    How much a word tells is computed over the run's texts or, without these, over the texts of the call.
    """

    default_rate = 0.3
    corpus = Corpus(())

    def prepare(self, surroundings: Surroundings) -> None:
        self.corpus = Corpus(surroundings.corpus)

    @property
    def key(self) -> str:
        """The key; the corpus counts as a setting too."""
        return f"{self}:{self.corpus.digest}@{self.version}"

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        corpus = self.corpus if self.corpus.texts else Corpus(texts)
        return [self._view(text, corpus, rng) for text in texts]

    def _view(self, text: str, corpus: Corpus, rng: np.random.Generator) -> str:
        units, joint = split_units(text)
        parts = {i: part for i, unit in enumerate(units) if (part := split_punctuation(unit))[1]}
        words = [core.lower() for _, core, _ in parts.values()]
        if len(words) < 2 or self.rate == 0:
            return text
        known = corpus.statistics[joint] or statistics([words])
        assert known is not None
        chances = replacement_chances(known.tf_idf(words), self.rate).tolist()
        draws, which = rng.random((2, len(words))).tolist()
        for (i, (lead, core, tail)), chance, draw, place in zip(parts.items(), chances, draws, which, strict=True):
            if draw < chance:
                units[i] = lead + cased_like(core, known.word_at(place)) + tail
        return joint.join(units)
