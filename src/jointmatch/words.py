"""A reader of words: a linear classifier over the words of a text and pairs of them, taught by the networks.

An encoder's frozen features tell what a text is about, and little of what a single word in it gives away. What words
tell cannot be learnt from ten labelled texts, but it can from thousands that networks have labelled, wrong as some are:
errors that have no word in common cancel out. So the reader sees more than its teachers, and both together most.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file

from jointmatch.randomness import generator
from jointmatch.tensors import save_tensors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

WEIGHTS, VOCABULARY = "words.safetensors", "words.json"
FEWEST_POOL_TEXTS = 500  # with fewer, a word is seen too seldom to tell anything
MOST_POOL_TEXTS = 50_000  # more are drawn from: words have been seen often enough by then
MOST_WORDS = 100_000
FEWEST_USES = 3  # texts that a word must be in
SHARE = 0.8  # of the texts taken for a class, its surest ones, that are learnt from
LABELED = 5.0  # a given label counts as much as so many of the networks'
STRENGTH = 3.0  # scikit-learn's C
SHARES = 0.5  # of what a class's share of these texts says, in logs: the pool may have other shares than later texts
KNOWN = 0.5  # of the pool's texts, that must have a known word: where words are not written apart, few have
PAIRS = 2  # the longest run of words that is one


class Words:
    """The words that are known, and how telling each is: a text is a row of them."""

    def __init__(self, vocabulary: Sequence[str], rarity: np.ndarray) -> None:
        self.vocabulary, self.rarity = list(vocabulary), rarity
        self._vectorizer = _vectorizer(vocabulary={word: i for i, word in enumerate(self.vocabulary)})
        self._vectorizer.idf_ = rarity

    @classmethod
    def of(cls, texts: Sequence[str]) -> Words | None:
        """Those of a pool; None where it has none in common."""
        vectorizer = _vectorizer(min_df=FEWEST_USES, max_features=MOST_WORDS)
        try:
            vectorizer.fit(texts)
        except ValueError:  # scikit-learn's answer to a vocabulary that would be empty
            return None
        return cls(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_)

    def rows(self, texts: Sequence[str]) -> csr_matrix:
        """(M, V), each of length 1, or of 0 where no word is known."""
        return self._vectorizer.transform(texts)


class WordReader:
    """Weights (V, C) and biases (C,) over known words."""

    def __init__(self, words: Words, weights: np.ndarray, biases: np.ndarray) -> None:
        self.words = words
        self.weights, self.biases = np.ascontiguousarray(weights, np.float32), biases.astype(np.float32)

    def probs(self, rows: csr_matrix) -> np.ndarray:
        """(M, C) of texts that are rows of words."""
        logits = rows.astype(np.float32) @ self.weights + self.biases
        probs: np.ndarray = torch.from_numpy(logits).double().softmax(-1).numpy()
        return probs

    def beside(self, networks: np.ndarray, rows: csr_matrix) -> np.ndarray:
        """What networks say of texts (M, C), and their words: of a text without a known word the networks alone."""
        return np.where(_known(rows)[:, None], together(networks, self.probs(rows)), networks)

    def save(self, folder: Path) -> None:
        """Write its two files."""
        arrays = {"weights": self.weights, "biases": self.biases, "rarity": self.words.rarity}
        save_tensors({name: torch.from_numpy(array) for name, array in arrays.items()}, folder / WEIGHTS)
        (folder / VOCABULARY).write_text(json.dumps(self.words.vocabulary, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, num_classes: int) -> WordReader:
        """Read them; ValueError where they do not belong together."""
        arrays = {name: tensor.numpy() for name, tensor in load_file(folder / WEIGHTS).items()}
        vocabulary = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
        wanted = {"weights": (len(vocabulary), num_classes), "biases": (num_classes,), "rarity": (len(vocabulary),)}
        found = {name: array.shape for name, array in arrays.items()}
        if found != wanted:
            raise ValueError(f"{WEIGHTS} holds {found}, wanted {wanted} for {VOCABULARY}")
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ValueError(f"{WEIGHTS} holds numbers that are none")
        if not all(isinstance(word, str) for word in vocabulary):
            raise ValueError(f"{VOCABULARY} is no list of words")
        return cls(Words(vocabulary, arrays["rarity"]), arrays["weights"], arrays["biases"])


class Lessons:
    """The texts that a reader learns from, their words counted once.

    Args:
        words: Those that are known.
        pool: Texts that networks label.
        labeled: Texts with given labels.
        labels: These, as class numbers.
        seed: Draws from large pools.
    """

    def __init__(
        self,
        words: Words,
        pool: Sequence[str],
        labeled: Sequence[str],
        labels: Sequence[int] | np.ndarray,
        seed: int = 0,
    ) -> None:
        self.words, self.labels = words, np.asarray(labels)
        self.drawn = drawn(len(pool), seed)
        self.pool, self.labeled = words.rows([pool[i] for i in self.drawn]), words.rows(labeled)

    @classmethod
    def of(
        cls, pool: Sequence[str], labeled: Sequence[str], labels: Sequence[int] | np.ndarray, seed: int = 0
    ) -> Lessons | None:
        """None where the pool has too few texts, or most have no word in common with others."""
        if len(pool) < FEWEST_POOL_TEXTS:
            return None
        words = Words.of([pool[i] for i in drawn(len(pool), seed)])
        found = cls(words, pool, labeled, labels, seed) if words else None
        return found if found and _known(found.pool).mean() >= KNOWN else None

    def taught(self, probs: np.ndarray, without: Sequence[int] | np.ndarray = ()) -> WordReader:
        """A reader that has learnt from the networks' (P, C) and from given labels, but for some rows of these."""
        from scipy.sparse import vstack
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits

        classes = probs.shape[1]
        surest = _surest(probs[self.drawn])
        given = np.setdiff1d(np.arange(len(self.labels)), without)
        x = vstack([self.pool[surest], self.labeled[given]]).tocsr()
        y = np.concatenate([probs[self.drawn].argmax(-1)[surest], self.labels[given]])
        counts = np.concatenate([np.ones(len(surest)), np.full(len(given), LABELED)])
        # One thread: products of sparse rows have no more, and between them others would wait in a busy loop.
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)  # the last digits are no better for more steps
            model = LogisticRegression(C=STRENGTH, max_iter=100, tol=1e-3).fit(x, y, sample_weight=counts)
        coefficients, intercepts = model.coef_, model.intercept_
        if classes == 2:  # scikit-learn has one row for the two
            coefficients, intercepts = (np.concatenate([-a, a]) / 2 for a in (coefficients, intercepts))
        shares = np.bincount(y, counts, minlength=classes) / counts.sum()
        return WordReader(self.words, coefficients.T, intercepts - (1 - SHARES) * np.log(shares))


def drawn(size: int, seed: int) -> np.ndarray:
    """The numbers of the pool's texts that are read: all of them, unless it is very large."""
    if size <= MOST_POOL_TEXTS:
        return np.arange(size)
    return np.sort(generator(seed, "words").choice(size, MOST_POOL_TEXTS, replace=False))


def together(networks: np.ndarray, words: np.ndarray) -> np.ndarray:
    """What networks and words say of (M, C), each as much as the other: their geometric mean."""
    product = np.sqrt(np.maximum(networks, 1e-9) * np.maximum(words, 1e-9))
    mean: np.ndarray = product / product.sum(-1, keepdims=True)
    return mean


def harm(alone: np.ndarray, both: np.ndarray, where: str) -> str | None:
    """What is to be said where networks were right (M,) alone and are not with the words, more often than by chance."""
    lost, won = int((alone & ~both).sum()), int((both & ~alone).sum())
    if lost - won <= 2 * (lost + won) ** 0.5:
        return None
    rates = f"{100 * both.mean():.1f} % are right {where}, with the networks alone {100 * alone.mean():.1f} %"
    return (
        f"The reader of words does harm here: {rates}. It may be that the unlabelled texts lack a class; "
        "network.word_reader=false leaves the reader out."
    )


def _known(rows: csr_matrix) -> np.ndarray:
    """Whether a text has a known word: (M,)."""
    found: np.ndarray = np.diff(rows.indptr) > 0
    return found


def _surest(probs: np.ndarray) -> np.ndarray:
    """Of each class's texts in (P, C) the surest: so a class that networks are seldom sure of is learnt, too."""
    sureness, labels = probs.max(-1), probs.argmax(-1)
    of_classes = [np.flatnonzero(labels == c) for c in range(probs.shape[1])]
    ordered = [own[np.argsort(-sureness[own], kind="stable")] for own in of_classes]
    return np.concatenate([own[: int(np.ceil(SHARE * len(own)))] for own in ordered])


def _vectorizer(**settings: object) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, PAIRS), **settings)
