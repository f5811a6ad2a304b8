"""Tokenising word by word, each word once: views of a text are mostly words that were seen before.

A BERT tokenizer never looks past a space, so a text's tokens are its words' tokens end to end. Kept by word, they
are found several times as fast as by the tokenizer itself, which would read all views anew at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from jointmatch.ragged import starts, within

KEPT = 500_000  # words; with more, the cache starts over
KEPT_TEXTS = 100_000

Split = Callable[[str], list[str] | None]  # from a text to its words; None if it is not made of words
Cut = Literal["end", "middle"]  # of texts that are too long


def at_spaces(text: str) -> list[str]:
    """Split a text as the tokenizer itself would."""
    return text.split(" ")


class Words(NamedTuple):
    """A text's tokens, word by word."""

    sizes: np.ndarray  # (words,) how many tokens each has
    pieces: np.ndarray  # (sum of sizes,)


class WordPieces:
    """A BERT tokenizer's token ids, kept by word.

    Args:
        pretrained: The tokenizer; ``fits`` must be true of it.
    """

    def __init__(self, pretrained: Any) -> None:
        self.pretrained = pretrained
        self.first, self.last = pretrained("")["input_ids"]
        self._words: dict[str, list[int]] = {}
        self._texts: dict[tuple[Split, str], Words | None] = {}

    @staticmethod
    def fits(pretrained: Any) -> bool:
        """Whether a tokenizer works word by word and adds one token at either end of a text."""
        backend = getattr(pretrained, "backend_tokenizer", None)
        if backend is None or pretrained.truncation_side != "right":
            return False
        parts = [type(part).__name__ for part in (backend.normalizer, backend.pre_tokenizer, backend.model)]
        if parts != ["BertNormalizer", "BertPreTokenizer", "WordPiece"]:
            return False
        added = pretrained.added_tokens_decoder.values()
        plain = not any(token.lstrip or token.rstrip or token.single_word or " " in token.content for token in added)
        return plain and len(pretrained("")["input_ids"]) == 2

    def encode(self, texts: Sequence[str], max_length: int, cut: Cut = "end") -> list[list[int]]:
        """Token ids of each text, special tokens included; those beyond ``max_length`` are left out as ``cut`` says."""
        split = [at_spaces(text) for text in texts]
        known, room = self._learned(set(chain.from_iterable(split))), max(max_length - 2, 0)
        pieces = [list(chain.from_iterable(map(known.__getitem__, words))) for words in split]
        if cut == "middle":
            pieces = [without_middle(own, room) for own in pieces]
        return [[self.first, *own[:room], self.last] for own in pieces]

    def words_of(self, texts: Sequence[str], split: Split) -> list[Words] | None:
        """Each text's words; None if any of the texts is not made of words."""
        known = self._texts if len(self._texts) <= KEPT_TEXTS else {}
        parted = {text: split(text) for text in texts if (split, text) not in known}
        pieces = self._learned({word for words in parted.values() for word in words or ()})
        for text, words in parted.items():
            known[split, text] = None if words is None else _words([pieces[word] for word in words])
        self._texts = known
        found = [known[split, text] for text in texts]
        return None if None in found else [words for words in found if words is not None]

    def laid_out(
        self,
        texts: Sequence[Words],
        places: np.ndarray,
        counts: np.ndarray,
        max_length: int,
        padding: int,
        cut: Cut = "end",
    ) -> tuple[np.ndarray, np.ndarray]:
        """Token ids (B, T) of some words of each text, in order, and each row's number of tokens.

        Args:
            texts: B texts.
            places: The words' numbers in their text, text after text.
            counts: (B,) how many of these each text has.
            max_length: The most tokens in a row, special tokens included.
            padding: The id that rows are padded with.
            cut: What is left out of a longer row.
        """
        sizes = np.concatenate([text.sizes for text in texts])
        first_word = starts(np.array([len(text.sizes) for text in texts]))
        row_of_word = np.repeat(np.arange(len(texts)), counts)
        words = places + first_word[row_of_word]
        taken, begin = sizes[words], starts(sizes)[words]
        tokens = np.repeat(begin - starts(taken), taken) + np.arange(taken.sum())
        row = np.repeat(row_of_word, taken)
        totals = np.bincount(row, minlength=len(texts))
        column = within(totals)
        room = max(max_length - 2, 0)
        if cut == "middle":
            column = _closed_up(column, totals[row], room)
        fits = column < room
        lengths = np.minimum(totals, room) + 2
        ids = np.full((len(texts), lengths.max()), padding, np.int64)
        pieces = np.concatenate([text.pieces for text in texts])
        ids[row[fits], column[fits] + 1] = pieces[tokens[fits]]
        ids[:, 0] = self.first
        ids[np.arange(len(texts)), lengths - 1] = self.last
        return ids, lengths

    def _learned(self, words: set[str]) -> dict[str, list[int]]:
        """The cache, including these words; a full one is replaced, and left to whoever still reads it."""
        known = self._words if len(self._words) <= KEPT else {}
        unknown = [word for word in words if word not in known]
        if unknown:
            backend = self.pretrained.backend_tokenizer  # called directly: its wrapper takes longer than it does
            backend.no_truncation()
            backend.no_padding()
            encoded = backend.encode_batch_fast(unknown, add_special_tokens=False)
            known.update((word, own.ids) for word, own in zip(unknown, encoded, strict=True))
        self._words = known
        return known


def without_middle(ids: list[int], room: int) -> list[int]:
    """The first and last ``room`` ids if there are more than that, the first part the larger."""
    head = -(-room // 2)
    return ids if len(ids) <= room else ids[:head] + ids[len(ids) - (room - head) :]


def _closed_up(column: np.ndarray, total: np.ndarray, room: int) -> np.ndarray:
    """Each token's column once a row's middle is left out; tokens left out move beyond ``room``."""
    head, over = -(-room // 2), np.maximum(total - room, 0)
    moved = np.where(column < head + over, column + total, column - over)
    return np.where((column < head) | (over == 0), column, moved)


def _words(pieces: list[list[int]]) -> Words:
    sizes = np.fromiter(map(len, pieces), np.int32, len(pieces))
    return Words(sizes, np.fromiter(chain.from_iterable(pieces), np.int32, sizes.sum()))
