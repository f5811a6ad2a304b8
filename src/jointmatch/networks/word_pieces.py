"""Tokenising word by word, each word once: views of a text are mostly words that were seen before.

A BERT tokenizer never looks past a space, so a text's tokens are its words' tokens end to end. Kept by word, they
come several times as fast as from the tokenizer itself, which at every step reads all views anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

KEPT = 500_000  # words; when there are more, it starts anew


class WordPieces:
    """A BERT tokenizer's token numbers, kept by word.

    Args:
        pretrained: The tokenizer; ``fits`` must say yes to it.
    """

    def __init__(self, pretrained: Any) -> None:
        self.pretrained = pretrained
        self.first, self.last = pretrained("")["input_ids"]
        self._words: dict[str, list[int]] = {}

    @staticmethod
    def fits(pretrained: Any) -> bool:
        """Whether it goes word by word, and frames a text by one token on either side."""
        backend = getattr(pretrained, "backend_tokenizer", None)
        if backend is None or pretrained.truncation_side != "right":
            return False
        parts = [type(part).__name__ for part in (backend.normalizer, backend.pre_tokenizer, backend.model)]
        if parts != ["BertNormalizer", "BertPreTokenizer", "WordPiece"]:
            return False
        added = pretrained.added_tokens_decoder.values()
        plain = not any(token.lstrip or token.rstrip or token.single_word or " " in token.content for token in added)
        return plain and len(pretrained("")["input_ids"]) == 2

    def encode(self, texts: Sequence[str], max_length: int) -> list[list[int]]:
        """Token ids of each text, cut at ``max_length``, special tokens included."""
        split = [text.split(" ") for text in texts]
        known, room = self._learned(set(chain.from_iterable(split))), max(max_length - 2, 0)
        return [
            [self.first, *list(chain.from_iterable(map(known.__getitem__, words)))[:room], self.last] for words in split
        ]

    def _learned(self, words: set[str]) -> dict[str, list[int]]:
        """What is kept, these words included; a full one is left to those who still read it."""
        known = self._words if len(self._words) <= KEPT else {}
        unknown = [word for word in words if word not in known]
        if unknown:
            plain = self.pretrained(
                unknown, add_special_tokens=False, return_attention_mask=False, return_token_type_ids=False
            )
            known.update(zip(unknown, plain["input_ids"], strict=True))
        self._words = known
        return known
