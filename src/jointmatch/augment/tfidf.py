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
    """min(p (C - TFIDF(x_i)) / Z, 1): C is the largest, Z the mean of C - TFIDF; ``rate`` for all if they are alike."""
    gaps = tf_idf.max() - tf_idf  # (words,)
    mean = gaps.mean()
    if mean == 0:
        return np.full(len(tf_idf), rate)
    return np.minimum(rate * gaps / mean, 1)


def draw_shares(scores: np.ndarray) -> np.ndarray:
    """max_j S(j) - S(w) as shares of 1: how often each word is drawn as a replacement."""
    gaps = scores.max() - scores  # (vocabulary,)
    total = gaps.sum()
    return gaps / total if total > 0 else np.full(len(scores), 1 / len(scores))


@dataclass(frozen=True)
class Statistics:
    """How much each word of a corpus tells, and how often it is drawn."""

    texts: int
    idf: dict[str, float]
    words: list[str]
    sums: np.ndarray  # of the shares in the words' order

    def tf_idf(self, words: Sequence[str]) -> np.ndarray:
        """Of each word in a text made of these words; one that the corpus lacks counts as in one text of it."""
        counts, unseen = Counter(words), math.log(self.texts)
        return np.array([counts[w] / len(words) * self.idf.get(w, unseen) for w in words])

    def word_at(self, draw: float) -> str:
        """The word that a number from 0 to 1 draws."""
        return self.words[min(int(np.searchsorted(self.sums, draw, side="right")), len(self.words) - 1)]


def statistics(texts: Iterable[Sequence[str]]) -> Statistics | None:
    """Of texts as lists of words: idf(w) = log(N / texts with w), S(w) = freq(w) idf(w); None without any word."""
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
    """The texts that the statistics are of, which are computed when they are first asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @cached_property
    def digest(self) -> str:
        """Of the texts in any order; empty where there are none."""
        digest = hashlib.blake2b(digest_size=8)
        for text in sorted(self.texts):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest() if self.texts else ""

    @cached_property
    def statistics(self) -> dict[str, Statistics | None]:
        """Of the texts with spaces (under " ") and of those without (under ""), whose words are characters."""
        kinds: dict[str, list[list[str]]] = {" ": [], "": []}
        for text in self.texts:
            units, joint = split_units(text)
            kinds[joint].append([word for unit in units if (word := split_punctuation(unit)[1].lower())])
        return {joint: statistics(texts) for joint, texts in kinds.items()}


@AUGMENTERS.register("tfidf")
class TfIdf(RatedAugmenter):
    """Replace words that tell little by others that tell little, ``rate`` of them on average (UDA).

    What tells little is counted over the run's texts; without them, over the texts of the call.
    """

    default_rate = 0.3
    corpus = Corpus(())

    def prepare(self, surroundings: Surroundings) -> None:
        self.corpus = Corpus(surroundings.corpus)

    @property
    def key(self) -> str:
        """The corpus is a setting too."""
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
