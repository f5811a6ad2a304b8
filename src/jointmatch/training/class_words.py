"""Words that represent a class: its name, and those most typical of its labelled texts by TF-IDF."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from jointmatch.augment.base import split_units
from jointmatch.augment.punctuation import split_punctuation
from jointmatch.augment.tfidf import Corpus, statistics
from jointmatch.data import Splits
from jointmatch.types import Label

RARE = 0.001  # a word in a smaller share of the texts, or in only one, is a name or a typo: it represents no class


@dataclass(frozen=True)
class Vocabulary:
    """The W words that may represent a class, and the evidence for each."""

    words: list[str]
    typical: Tensor  # (M, W) TF-IDF of the words in each labelled text
    named: Tensor  # (C, W) whether the word is part of the class's own name


@dataclass(frozen=True)
class ClassWords:
    """The vocabulary with its frozen features; which words a class gets follows from the labelled texts kept."""

    features: Tensor  # (N, W, D)
    typical: Tensor  # (M, W)
    named: Tensor  # (C, W)

    def fold(self, kept: Tensor) -> ClassWords:
        """The same for only the ``kept`` labelled texts, (M,)."""
        return replace(self, typical=self.typical[kept])

    def vectors(self, labels: Tensor, count: int) -> Tensor:
        """The mean unit feature of each class's name and its ``count`` most typical words: (M,) -> (N, C, D)."""
        shares = chosen_words(self.typical, self.named, labels, count)
        return torch.einsum("cw,nwd->ncd", shares, F.normalize(self.features, dim=-1))


def chosen_words(typical: Tensor, named: Tensor, labels: Tensor, count: int) -> Tensor:
    """Each word's share in its class's mean: (M, W), (C, W), (M,) -> (C, W), with rows that sum to 1.

    A word's score in a class is the sum of its TF-IDF over the class's texts.
    """
    scores = torch.zeros_like(named, dtype=typical.dtype).index_add_(0, labels, typical)
    best = scores.topk(min(count, scores.shape[1]), dim=-1)
    chosen = named.float().scatter(1, best.indices, 1.0, reduce="add").clamp(max=1)
    chosen = chosen * ((scores > 0) | named)
    return chosen / chosen.sum(-1, keepdim=True).clamp(min=1)


def class_vocabulary(splits: Splits, count: int) -> Vocabulary:
    """The words of the class names and the ``count`` most typical of each labelled text, judged by all texts."""
    corpus = Corpus([*splits.labeled.texts, *splits.pool.texts])
    scored = [_scores(text, corpus, count) for text in splits.labeled.texts]
    names = [_name_words(name) for name in splits.classes]
    words = sorted({word for own in (*scored, *names) for word in own})
    place = {word: i for i, word in enumerate(words)}
    typical, named = torch.zeros(len(scored), len(words)), torch.zeros(len(names), len(words), dtype=torch.bool)
    for row, own in enumerate(scored):
        for word, score in own.items():
            typical[row, place[word]] = score
    for row, name in enumerate(names):
        named[row, [place[word] for word in name]] = True
    return Vocabulary(words, typical, named)


def _words(text: str) -> tuple[list[str], str]:
    units, joint = split_units(text)
    return [word for unit in units if (word := split_punctuation(unit)[1].lower())], joint


def _scores(text: str, corpus: Corpus, count: int) -> dict[str, float]:
    words, joint = _words(text)
    known = corpus.statistics[joint] or statistics([words])
    if known is None:
        return {}
    rarest = math.log(known.texts / max(2, RARE * known.texts))
    scores = dict(zip(words, known.tf_idf(words).tolist(), strict=True))
    usable = [word for word in scores if known.idf.get(word, math.inf) <= rarest and any(map(str.isalpha, word))]
    return {word: scores[word] for word in sorted(usable, key=lambda word: (-scores[word], word))[:count]}


def _name_words(name: Label) -> Sequence[str]:
    """The words of a class's name, if it has any: a number names nothing."""
    return [word for word in str(name).replace("/", " ").replace("_", " ").lower().split() if word.isalpha()]
