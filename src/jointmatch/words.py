"""The word reader: a linear classifier over a text's words and word pairs, taught by the networks.

An encoder's frozen features capture what a text is about, but little of what single words give away. That cannot be
learnt from ten labelled texts, but it can from thousands that the networks have labelled, even if some labels are
wrong: errors that share no word cancel out. So the reader sees more than its teachers, and both together see most.
"""

from __future__ import annotations

import json
import sys
import unicodedata
import warnings
from collections.abc import Sequence
from functools import cache
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
FEWEST_POOL_TEXTS = 500  # with fewer, a word is seen too rarely to be informative
MOST_POOL_TEXTS = 50_000  # sample size for larger pools: words are seen often enough in this many
MOST_WORDS = 100_000
MOST_WEIGHTS = 2_000_000  # words times classes: training takes about 320 bytes for each
FEWEST_USES = 3  # number of texts that a word must occur in
SUREST = 0.8  # share of the texts predicted as each class, the most confident ones, to learn from
LABELED = 5.0  # weight of a given label relative to one of the networks'
STRENGTH = 3.0  # scikit-learn's C
PRIOR_KEPT = 0.5  # exponent of the class prior: 0 ignores how frequent classes are in the pool, 1 trusts it
KNOWN = 0.5  # share of pool texts that must have a known word; without spaces between words, few have one
PAIRS = 2  # maximum n-gram length
LARGEST = 1e6  # no weight learnt from words is larger
NEVER = -20.0  # bias of a class found in neither the networks' nor the given labels


class NoLessonsError(Exception):
    """A reader cannot be taught; the message tells the user why."""


class Words:
    """The known words and how telling each is; they turn a text into a row."""

    def __init__(self, vocabulary: Sequence[str], rarity: np.ndarray) -> None:
        self.vocabulary, self.rarity = list(vocabulary), rarity
        self._vectorizer = _vectorizer(vocabulary={word: i for i, word in enumerate(self.vocabulary)})
        self._vectorizer.idf_ = rarity

    @classmethod
    def found_in(cls, texts: Sequence[str], most: int = MOST_WORDS) -> tuple[Words, csr_matrix]:
        """Find the words that enough texts have in common; return them and the texts as rows.

        Raises:
            NoLessonsError: if there are none.
        """
        vectorizer = _vectorizer(min_df=FEWEST_USES, max_features=most)
        try:
            rows = vectorizer.fit_transform(texts)
        except ValueError:  # scikit-learn found the vocabulary empty
            raise NoLessonsError(f"no word is in {FEWEST_USES} or more of the unlabelled texts") from None
        return cls(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_), rows

    def rows(self, texts: Sequence[str]) -> csr_matrix:
        """Return texts as rows (M, V) of length 1, or 0 where no word is known."""
        return self._vectorizer.transform(texts)


class WordReader:
    """A linear classifier over known words, with weights (V, C) and biases (C,)."""

    def __init__(self, words: Words, weights: np.ndarray, biases: np.ndarray) -> None:
        self.words = words
        self.weights, self.biases = np.ascontiguousarray(weights, np.float32), biases.astype(np.float32)

    def probs(self, rows: csr_matrix) -> np.ndarray:
        """Return probabilities (M, C) for texts given as rows."""
        logits = rows.astype(np.float32) @ self.weights + self.biases
        probs: np.ndarray = torch.from_numpy(logits).double().softmax(-1).numpy()
        return probs

    def beside(self, networks: np.ndarray, rows: csr_matrix) -> np.ndarray:
        """Combine the networks' probabilities (M, C) with the reader's, except for texts without a known word."""
        return np.where(_known(rows)[:, None], together(networks, self.probs(rows)), networks)

    def save(self, folder: Path) -> None:
        """Write the reader's two files."""
        arrays = {"weights": self.weights, "biases": self.biases, "rarity": self.words.rarity}
        save_tensors({name: torch.from_numpy(array) for name, array in arrays.items()}, folder / WEIGHTS)
        (folder / VOCABULARY).write_text(json.dumps(self.words.vocabulary, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, num_classes: int) -> WordReader:
        """Read the two files; raise ValueError if they do not belong together."""
        arrays = {name: tensor.numpy() for name, tensor in load_file(folder / WEIGHTS).items()}
        vocabulary = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
        if not isinstance(vocabulary, list) or not all(isinstance(word, str) for word in vocabulary):
            raise ValueError(f"{VOCABULARY} is not a list of words")
        wanted = {"weights": (len(vocabulary), num_classes), "biases": (num_classes,), "rarity": (len(vocabulary),)}
        found = {name: array.shape for name, array in arrays.items()}
        if found != wanted:
            raise ValueError(f"{WEIGHTS} holds {found}, wanted {wanted} for {VOCABULARY}")
        if not all((np.abs(array) < LARGEST).all() for array in arrays.values()):  # false for NaN, too
            raise ValueError(f"{WEIGHTS} holds NaN, infinite or impossibly large values")
        return cls(Words(vocabulary, arrays["rarity"]), arrays["weights"], arrays["biases"])


class Lessons:
    """The texts that a reader learns from, with their words counted once.

    Args:
        pool: Texts that the networks label.
        labeled: Texts with given labels.
        labels: The given labels, as class ids.
        classes: Number of classes.
        seed: Seed for sampling large pools.

    Raises:
        NoLessonsError: if the pool has too few texts, or most of them share no word with others.
    """

    def __init__(
        self,
        pool: Sequence[str],
        labeled: Sequence[str],
        labels: Sequence[int] | np.ndarray,
        classes: int,
        seed: int = 0,
    ) -> None:
        if len(pool) < FEWEST_POOL_TEXTS:
            raise NoLessonsError(f"it takes {FEWEST_POOL_TEXTS} unlabelled texts or more, got {len(pool)}")
        self.labels, self.classes = np.asarray(labels), classes
        self.drawn = drawn(len(pool), seed)
        most = min(MOST_WORDS, MOST_WEIGHTS // classes)
        self.words, self.pool = Words.found_in([pool[i] for i in self.drawn], most)
        if (share := _known(self.pool).mean()) < KNOWN:
            needs = "it needs texts whose words are separated by spaces and recur"
            raise NoLessonsError(f"only {share:.0%} of the unlabelled texts share a word with others; {needs}")
        self.labeled = self.words.rows(labeled)

    def taught(self, probs: np.ndarray, without: Sequence[int] | np.ndarray = ()) -> WordReader:
        """Train a reader on the networks' probabilities (P, C) and the given labels, except for rows ``without``."""
        from scipy.sparse import vstack
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits

        surest = _surest(probs[self.drawn])
        given = np.setdiff1d(np.arange(len(self.labels)), without)
        x = vstack([self.pool[surest], self.labeled[given]]).tocsr()
        y = np.concatenate([probs[self.drawn].argmax(-1)[surest], self.labels[given]])
        counts = np.concatenate([np.ones(len(surest)), np.full(len(given), LABELED)])
        tolerance = 1e-3 / self.classes  # on gradients, which shrink as more classes share the texts
        # One thread: products of sparse rows use no more, and the others would busy-wait between them.
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)  # little changes after this many steps
            model = LogisticRegression(C=STRENGTH, max_iter=100, tol=tolerance).fit(x, y, sample_weight=counts)
        coefficients, intercepts, seen = model.coef_, model.intercept_, model.classes_
        if len(seen) == 2:  # scikit-learn has a single row for two classes
            coefficients, intercepts = (np.concatenate([-a, a]) / 2 for a in (coefficients, intercepts))
        shares = np.bincount(y, counts, minlength=self.classes)[seen] / counts.sum()
        weights, biases = np.zeros((self.classes, x.shape[1])), np.full(self.classes, NEVER)
        weights[seen], biases[seen] = coefficients, intercepts - (1 - PRIOR_KEPT) * np.log(shares)
        return WordReader(self.words, weights.T, biases)


def drawn(size: int, seed: int) -> np.ndarray:
    """Return the indices of the pool texts to read: all of them, or a sample if the pool is very large."""
    if size <= MOST_POOL_TEXTS:
        return np.arange(size)
    return np.sort(generator(seed, "words").choice(size, MOST_POOL_TEXTS, replace=False))


def together(networks: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Combine the probabilities (M, C) of networks and words with equal weight: their geometric mean."""
    product = np.sqrt(np.maximum(networks, 1e-9) * np.maximum(words, 1e-9))
    mean: np.ndarray = product / product.sum(-1, keepdims=True)
    return mean


def harm(alone: np.ndarray, both: np.ndarray, where: str) -> str | None:
    """Return a warning if the words turn right predictions (M,) wrong more often than by chance, else None."""
    lost, won = int((alone & ~both).sum()), int((both & ~alone).sum())
    if lost - won <= 2 * (lost + won) ** 0.5:
        return None
    rates = f"{100 * both.mean():.1f} % correct {where} with it, {100 * alone.mean():.1f} % without"
    return (
        f"The word reader does harm here: {rates}. Perhaps a class is missing from the unlabelled texts. "
        "--set network.word_reader=false leaves the reader out."
    )


def _known(rows: csr_matrix) -> np.ndarray:
    """Whether each text has a known word: (M,)."""
    found: np.ndarray = np.diff(rows.indptr) > 0
    return found


def _surest(probs: np.ndarray) -> np.ndarray:
    """Select each class's surest texts in (P, C), so that a class the networks are seldom sure of is learnt too."""
    sureness, labels = probs.max(-1), probs.argmax(-1)
    of_classes = [np.flatnonzero(labels == c) for c in range(probs.shape[1])]
    ordered = [own[np.argsort(-sureness[own], kind="stable")] for own in of_classes]
    return np.concatenate([own[: int(np.ceil(SUREST * len(own)))] for own in ordered])


def _vectorizer(**settings: object) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    split = {"preprocessor": _folded, "token_pattern": _word_pattern()}
    return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, PAIRS), **split, **settings)


def _folded(text: str) -> str:
    """Lower-case a text and join separately encoded accents to their letters."""
    return unicodedata.normalize("NFC", text).lower()


@cache
def _word_pattern() -> str:
    """Match two letters or more, with their marks: scikit-learn's own pattern breaks words at vowel signs."""
    every = map(chr, range(0x300, sys.maxunicode + 1))
    marks = [c for c in every if unicodedata.category(c) in ("Mn", "Mc") and not _selects_a_shape(c)]
    return rf"\w[\w{''.join(marks)}]+"


def _selects_a_shape(mark: str) -> bool:
    """Whether a mark selects a glyph variant, of an emoji for example, and so is part of no word."""
    return "VARIATION SELECTOR" in unicodedata.name(mark, "")
