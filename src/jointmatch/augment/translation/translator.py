"""A Marian model for one direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import LogitsProcessor, LogitsProcessorList, MarianMTModel, MarianTokenizer

from jointmatch.pretrained import length_sorted, quiet_transformers

_LIKELIEST = 10  # number of words to sample from: the tail of a vocabulary is noise
_LONGEST = 512


class Translator:
    """A model and its tokenizer, loaded from a folder.

    Args:
        folder: Where the model's files are.
        device: ``cpu``, ``cuda`` or ``auto``.
        tokens: Number of tokens, padding included, translated at once.
    """

    def __init__(self, folder: str, device: str = "auto", tokens: int = 4096) -> None:
        self.device = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
        self.tokens = tokens
        with quiet_transformers():
            self.tokenizer: Any = MarianTokenizer.from_pretrained(folder, local_files_only=True)
            model: Any = MarianMTModel.from_pretrained(folder, local_files_only=True)
        self.model = model.to(self.device).eval()

    def translate(self, texts: Sequence[str], beams: int, seeds: Sequence[int] | None = None) -> list[str | None]:
        """Translate each text, in the given order, sampling with its seed if there are seeds; None if it failed."""
        ids = [self.tokenizer(text, truncation=True, max_length=_LONGEST)["input_ids"] for text in texts]
        done: list[str | None] = [None] * len(texts)
        for batch in length_sorted([len(row) for row in ids], self.tokens):
            rows = self._rows([ids[i] for i in batch], beams, [seeds[i] for i in batch] if seeds else None)
            for i, text in zip(batch, rows, strict=True):
                done[i] = text
        return done

    def _rows(self, ids: list[list[int]], beams: int, seeds: list[int] | None) -> list[str | None]:
        try:
            return list(self._generate(ids, beams, seeds))
        except RuntimeError:  # not enough memory for this many at once, or a text that the model cannot handle
            if len(ids) == 1:
                return [None]
        half = len(ids) // 2
        left, right = (seeds[:half], seeds[half:]) if seeds else (None, None)
        return [*self._rows(ids[:half], beams, left), *self._rows(ids[half:], beams, right)]

    @torch.inference_mode()
    def _generate(self, ids: list[list[int]], beams: int, seeds: list[int] | None) -> list[str]:
        inputs = self.tokenizer.pad({"input_ids": ids}, return_tensors="pt").to(self.device)
        limits = [min(_LONGEST, 2 * len(row) + 20) for row in ids]
        rules: list[Any] = [_Limit(limits, self.tokenizer.eos_token_id)]
        if seeds:
            rules.insert(0, _Drawing(seeds, self.device))
        tokens = self.model.generate(
            **inputs,
            num_beams=1 if seeds else beams,
            do_sample=False,
            max_length=max(limits) + 1,
            logits_processor=LogitsProcessorList(rules),
        )
        return [text.strip() for text in self.tokenizer.batch_decode(tokens, skip_special_tokens=True)]


class _Limit(LogitsProcessor):
    """Ends translations that keep repeating themselves, each at a limit set by its own text, not by the batch."""

    def __init__(self, limits: Sequence[int], end: int) -> None:
        self.limits = torch.tensor(limits)
        self.end = end

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        beams = len(scores) // len(self.limits)
        over = (self.limits <= input_ids.shape[1]).repeat_interleave(beams).to(scores.device)
        scores[over] = -torch.inf
        scores[over, self.end] = 0.0
        return scores


class _Drawing(LogitsProcessor):
    """Turns picking the likeliest word into sampling, by adding Gumbel noise from each text's own generator.

    The library's sampling draws a whole batch from one stream, so a text's view would depend on its neighbours.
    """

    def __init__(self, seeds: Sequence[int], device: str) -> None:
        self.generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        least = scores.topk(min(_LIKELIEST, scores.shape[-1])).values[:, -1:]
        noise = torch.empty_like(scores)
        for row, generator in zip(noise, self.generators, strict=True):
            row.exponential_(generator=generator)
        return torch.where(scores < least, -torch.inf, scores - noise.log())  # type: ignore[return-value]
