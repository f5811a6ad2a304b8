"""A masked language model that fills gaps with words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from jointmatch.augment.base import split_units
from jointmatch.augment.gaps import Gapped
from jointmatch.errors import InputError
from jointmatch.pretrained import length_sorted, quiet_transformers
from jointmatch.randomness import seeded

_SURROGATE = re.compile("[\ud800-\udfff]")
_LIKELIEST = 10  # number of words to draw from
_SAME = 5  # ids that may spell the same word in different cases
_LONGEST = 512
_STARTS = ("\u0120", "\u2581")  # how byte-level BPE and SentencePiece mark the start of a word


class Infiller:
    """A model with its tokenizer and the words of its vocabulary.

    Args:
        source: A folder or a hub name.
        device: ``cpu``, ``cuda`` or ``auto``.
        tokens: Number of tokens, padding included, that go through the model at once.

    Raises:
        InputError: The source has no masked language model.
    """

    def __init__(self, source: str, device: str = "auto", tokens: int = 2048) -> None:
        self.device = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
        self.tokens = tokens
        self.tokenizer, self.model = _load(source)
        self.model.to(self.device).eval()
        positions = getattr(self.model.config, "max_position_embeddings", None) or _LONGEST
        # RoBERTa numbers its positions from two.
        self.length = min(self.tokenizer.model_max_length, positions - 2, _LONGEST)
        size = self.model.get_output_embeddings().weight.shape[0]
        self.spellings, kinds = _vocabulary(self.tokenizer, size)
        self.biases = {joint: torch.tensor(bias, device=self.device) for joint, bias in kinds.items()}

    def fill(self, texts: Sequence[Gapped]) -> list[list[str | None] | None]:
        """Return a word for each gap of each text (None if no word fits); None for a text that failed."""
        filled: list[list[str | None] | None] = [[None] * len(text.gaps) for text in texts]
        windows = self._windows(texts)
        for batch in length_sorted([len(window.ids) for window in windows], self.tokens):
            rows = [windows[i] for i in batch]
            for window, found in zip(rows, self._candidates(rows), strict=True):
                words, text = filled[window.text], texts[window.text]
                if found is None or words is None:
                    filled[window.text] = None
                    continue
                for gap, (ids, scores) in zip(window.gaps, found, strict=True):
                    words[gap] = self._drawn(ids, scores, text.words[gap], text.draws[gap])
        return filled

    def _windows(self, texts: Sequence[Gapped]) -> list[_Window]:
        """Split the texts into windows short enough for the model, with the gaps in each; omit windows without gaps."""
        windows: list[_Window] = []
        for row, text in enumerate(texts):
            if not text.gaps:
                continue
            masked, starts = text.masked(self.tokenizer.mask_token)
            masked = _SURROGATE.sub("\ufffd", masked)  # the tokenizer cannot handle surrogates
            coded = self.tokenizer(masked, truncation=True, max_length=self.length, return_overflowing_tokens=True)
            for encoding in coded.encodings:
                places = [(gap, encoding.char_to_token(start)) for gap, start in enumerate(starts)]
                inside = [(gap, place) for gap, place in places if place is not None]
                if inside:
                    windows.append(_Window(row, list(encoding.ids), inside, text.joint))
        return windows

    def _candidates(self, rows: list[_Window]) -> list[list[tuple[list[int], np.ndarray]] | None]:
        try:
            return list(self._likeliest(rows))
        except RuntimeError:  # not enough memory for this many at once, or a window that the model cannot handle
            if len(rows) == 1:
                return [None]
        half = len(rows) // 2
        return [*self._candidates(rows[:half]), *self._candidates(rows[half:])]

    @torch.inference_mode()
    def _likeliest(self, rows: list[_Window]) -> list[list[tuple[list[int], np.ndarray]]]:
        """Return the likeliest ids and their scores, best first, for each gap of each window."""
        inputs = self.tokenizer.pad({"input_ids": [row.ids for row in rows]}, return_tensors="pt").to(self.device)
        logits = self.model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits  # (B, T, V)
        found = []
        for row, scores in zip(rows, logits, strict=True):
            allowed = scores[row.places].float() + self.biases[row.joint]  # (gaps, V)
            best = allowed.topk(min(_LIKELIEST + _SAME, allowed.shape[-1]))
            found.append(list(zip(best.indices.tolist(), best.values.cpu().numpy(), strict=True)))
        return found

    def _drawn(self, ids: list[int], scores: np.ndarray, word: str, draw: float) -> str | None:
        """Draw one of the likeliest words other than the original, using the model's own probabilities."""
        spelled = [(self.spellings[i], s) for i, s in zip(ids, scores.tolist(), strict=True) if s > -np.inf]
        others = [(spelling, s) for spelling, s in spelled if spelling.lower() != word.lower()][:_LIKELIEST]
        if not others:
            return None
        shares = np.exp([s - others[0][1] for _, s in others]).cumsum()
        return others[min(int(np.searchsorted(shares, draw * shares[-1], side="right")), len(others) - 1)][0]


class _Window:
    """Token ids of part of a text, and the positions of the text's gaps in it."""

    def __init__(self, text: int, ids: list[int], inside: list[tuple[int, int]], joint: str) -> None:
        self.text, self.ids, self.joint = text, ids, joint
        self.gaps = [gap for gap, _ in inside]
        self.places = [place for _, place in inside]


def _load(source: str) -> tuple[Any, Any]:
    try:
        # A missing head is initialised at random, so give it a stream of its own; it is rejected below.
        with quiet_transformers(), seeded(0):
            tokenizer: Any = AutoTokenizer.from_pretrained(source, use_fast=True, trust_remote_code=False)
            model, about = AutoModelForMaskedLM.from_pretrained(
                source, output_loading_info=True, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
            )
    except (OSError, ValueError, KeyError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"it cannot be loaded as a masked language model: {reason}") from None
    if about["missing_keys"] or tokenizer.mask_token is None:
        raise InputError("it has no masked-language-model head among its weights")
    return tokenizer, model


def _vocabulary(tokenizer: Any, size: int) -> tuple[list[str], dict[str, np.ndarray]]:
    """Return each token's spelling, and what to add to its score: minus infinity if it is not a whole word.

    The latter is for texts with spaces (under " ") and without (under ""), where any token in such a script will do.
    """
    tokens = tokenizer.convert_ids_to_tokens(range(min(size, len(tokenizer))))
    spellings = [tokenizer.convert_tokens_to_string([token or ""]).strip() for token in tokens]
    special = set(tokenizer.all_special_tokens)
    marked = tokenizer.tokenize("a a")[-1].startswith(_STARTS)
    biases = {joint: np.full(size, -np.inf, dtype=np.float32) for joint in (" ", "")}
    for i, (token, spelling) in enumerate(zip(tokens, spellings, strict=True)):
        if not token or token in special or not _is_word(spelling):
            continue
        if split_units(spelling)[1] == "":
            biases[""][i] = 0
        elif token.startswith(_STARTS) or not marked:
            biases[" "][i] = 0
    return spellings, biases


def _is_word(spelling: str) -> bool:
    """Whether there are only letters, accents and digits: no punctuation, and no "##ing" (WordPiece's inner parts)."""
    return any(map(str.isalnum, spelling)) and all(unicodedata.category(c)[0] in "LMN" for c in spelling)
