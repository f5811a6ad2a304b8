"""From texts to padded batches of token ids."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from jointmatch.networks.devices import on_device
from jointmatch.networks.word_pieces import Cut, Split, WordPieces, without_middle
from jointmatch.pretrained import length_sorted

Order = tuple[np.ndarray, np.ndarray]  # places of words, text after text, and how many each text has

ONE_AT_A_TIME = threading.Lock()  # calling a fast tokenizer changes it, and fails if two threads do so at once
if hasattr(
    os, "register_at_fork"
):  # a process forked while another thread tokenises would wait for that thread for ever
    os.register_at_fork(
        before=ONE_AT_A_TIME.acquire, after_in_parent=ONE_AT_A_TIME.release, after_in_child=ONE_AT_A_TIME.release
    )
SAMPLE = 500  # texts used to estimate how long texts are
CHARACTERS_PER_TOKEN = 30  # more than any real text needs; a longer text is cut before it is tokenised


@dataclass(frozen=True)
class Tokens:
    """A batch: ids and mask, both (B, T), and each text's number of tokens, always on the CPU."""

    ids: Tensor
    mask: Tensor
    sizes: np.ndarray | None = None  # (B,); texts stand at the start of their rows

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent between processes as plain bytes: torch would open shared memory for every tensor.
        return _tokens, (self.ids.cpu().numpy(), self.mask.cpu().numpy(), self.sizes)

    @property
    def lengths(self) -> np.ndarray:
        """Each text's number of tokens, (B,)."""
        return self.mask.sum(1).cpu().numpy() if self.sizes is None else self.sizes

    def to(self, device: torch.device) -> Tokens:
        """The batch on another device."""
        return Tokens(on_device(self.ids, device), on_device(self.mask, device), self.sizes)

    def rows(self, rows: np.ndarray) -> Tokens:
        """Some of the texts, by number, as wide as the longest of them."""
        sizes = self.lengths[rows]
        index, width = torch.from_numpy(rows), int(sizes.max(initial=1))
        return Tokens(self.ids[index, :width], self.mask[index, :width], sizes)

    def followed_by(self, other: Tokens) -> Tokens:
        """Both batches as one, as wide as the wider one."""
        width = max(self.ids.shape[1], other.ids.shape[1])
        pairs = ((self.ids, other.ids), (self.mask, other.mask))
        ids, mask = (torch.cat([F.pad(x, (0, width - x.shape[1])) for x in pair]) for pair in pairs)
        return Tokens(ids, mask, np.concatenate([self.lengths, other.lengths]))

    def with_rows(self, count: int) -> Tokens:
        """The batch with one-token texts appended until there are ``count``."""
        more = count - len(self.ids)
        if not more:
            return self
        mask = F.pad(self.mask, (0, 0, 0, more))
        mask[-more:, 0] = True  # attention over nothing would give NaN
        sizes = None if self.sizes is None else np.concatenate([self.sizes, np.ones(more, self.sizes.dtype)])
        return Tokens(F.pad(self.ids, (0, 0, 0, more)), mask, sizes)


def _tokens(ids: np.ndarray, mask: np.ndarray, sizes: np.ndarray | None) -> Tokens:
    return Tokens(torch.from_numpy(ids), torch.from_numpy(mask), sizes)


def some_of(texts: Sequence[str], count: int) -> Sequence[str]:
    """About ``count`` of the texts, evenly spread."""
    return texts[:: -(-len(texts) // count)] if texts else []


class Tokenizer:
    """Cuts, tokenises and pads. Wraps the backbone's own fast tokenizer.

    Args:
        pretrained: The backbone's tokenizer.
        max_length: The most tokens read of a text, special tokens included.
        cut: What is left out of a longer text.
    """

    def __init__(self, pretrained: Any, max_length: int, cut: Cut = "end") -> None:
        self.pretrained, self.cut = pretrained, cut
        # Some tokenizers state their model's limit, others a huge number meaning "none".
        self.max_length = min(max_length, pretrained.model_max_length)
        self._by_word = WordPieces(pretrained) if WordPieces.fits(pretrained) else None

    @property
    def mask_token(self) -> str | None:
        """How the backbone writes a masked word, if it has such a token."""
        return self.pretrained.mask_token

    def shortened(self, text: str) -> str:
        """The text without the part that is never read."""
        most = self.max_length * CHARACTERS_PER_TOKEN
        if len(text) <= most:
            return text
        return text[:most] if self.cut == "end" else f"{text[: most // 2]} {text[-(most // 2) :]}"

    def share_cut(self, texts: Sequence[str]) -> float:
        """The fraction of texts that are not read to their end, estimated from some of them."""
        some = some_of(texts, SAMPLE)
        return sum(len(ids) >= self.max_length for ids in self.encode(some)) / max(len(some), 1)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, special tokens included, no more than ``max_length``."""
        if not texts:
            return []
        texts = [self.shortened(text) for text in texts]
        with ONE_AT_A_TIME:
            if self._by_word is not None:
                return self._by_word.encode(texts, self.max_length, self.cut)
            encoded = self.pretrained(
                texts,
                truncation=self.cut == "end",
                max_length=self.max_length if self.cut == "end" else None,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,  # no warning of texts longer than the encoder's limit, which are cut below
            )
        ids: list[list[int]] = encoded["input_ids"]
        return ids if self.cut == "end" else [without_middle(own, self.max_length) for own in ids]

    def reordered(self, texts: Sequence[str], split: Split, order: Callable[[np.ndarray], Order]) -> Tokens | None:
        """The tokens of texts whose words are chosen and ordered by number, without making these texts.

        Args:
            texts: At least one, each ``shortened``.
            split: Splits a text into words.
            order: From each text's number of words to the words taken, text after text, and how many per text.

        Returns:
            None if the texts have to be made: for a tokenizer that looks past spaces, or a text in which ``split``
            finds no words, such as one in a script without spaces.
        """
        if self._by_word is None:
            return None
        with ONE_AT_A_TIME:
            words = self._by_word.words_of(texts, split)
        if words is None:
            return None
        places, counts = order(np.array([len(text.sizes) for text in words]))
        padding = self.pretrained.pad_token_id or 0
        ids, lengths = self._by_word.laid_out(words, places, counts, self.max_length, padding, self.cut)
        mask = np.arange(ids.shape[1]) < lengths[:, None]
        return Tokens(torch.from_numpy(ids), torch.from_numpy(mask), lengths)

    def pad(self, ids: Sequence[list[int]]) -> Tokens:
        """Put sequences into one batch, padded at the end to the longest."""
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        width = lengths.max(initial=0) if len(ids) else 1
        mask = np.arange(width) < lengths[:, None]
        batch = np.full(mask.shape, self.pretrained.pad_token_id or 0, np.int64)
        batch[mask] = np.fromiter(chain.from_iterable(ids), np.int64, lengths.sum())
        return Tokens(torch.from_numpy(batch), torch.from_numpy(mask), lengths)

    def __call__(self, texts: Sequence[str]) -> Tokens:
        """Tokenise and pad in one go."""
        return self.pad(self.encode(texts))


def in_batches(
    tokenizer: Tokenizer,
    ids: Sequence[list[int]],
    budget: int,
    device: torch.device,
    forward: Callable[[Tokens], Tensor],
    padded: dict[tuple[int, ...], Tokens] | None = None,
) -> Iterator[tuple[list[int], Tensor]]:
    """Send all texts through ``forward`` in batches of similar length; yield the rows and their outputs.

    A batch too large for the GPU's memory is halved until it fits. ``padded`` keeps the batches for next time.
    """
    groups = list(length_sorted([len(row) for row in ids], budget))[::-1]
    while groups:
        rows = groups.pop()
        batch = None if padded is None else padded.get(tuple(rows))
        if batch is None:
            batch = tokenizer.pad([ids[i] for i in rows])
        if padded is not None:
            padded[tuple(rows)] = batch
        try:
            out = forward(batch.to(device))
        except torch.OutOfMemoryError:
            if len(rows) == 1:
                raise
            out = None  # the halves wait until this block, which holds the failed pass's tensors, is left
        if out is None:
            half = len(rows) // 2
            groups += [rows[half:], rows[:half]]
            torch.cuda.empty_cache()
        else:
            yield rows, out
