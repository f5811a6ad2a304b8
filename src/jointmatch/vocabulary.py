"""Check whether a backbone's vocabulary covers the language of the texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from jointmatch.augment import spaced_words
from jointmatch.networks.tokens import some_of

SAMPLE = 100  # texts
CHARACTERS = 2000  # per text
MANY_PIECES = 1.6  # per word; minilm: 1.0 to 1.3 on the benchmarks, 1.7 to 2.2 on some Spanish, French, German texts
MANY_UNKNOWN = 0.1
_WORD = re.compile(r"[^\W\d_]+")


def strange_words(texts: Sequence[str], pretrained: Any, name: str) -> str | None:
    """Return a warning if a backbone's tokenizer hardly knows the words of these texts, else None.

    Args:
        texts: The texts, of which a sample is checked.
        pretrained: The backbone's own tokenizer.
        name: The backbone's name.
    """
    some = [text[:CHARACTERS] for text in some_of(texts, SAMPLE)]
    advice = "A backbone trained on such texts may do better: --backbone takes a name or a folder."
    unknown = _share_unknown(some, pretrained)
    if unknown > MANY_UNKNOWN:
        return f"{100 * unknown:.0f} % of the tokens of these texts are unknown to {name}. {advice}"
    pieces = _pieces_per_word(some, pretrained)
    if pieces > MANY_PIECES:
        return (
            f"{name} does not know the words of these texts well: it needs {pieces:.1f} pieces a word, where everyday "
            f"texts in its own language take about 1.2. {advice}"
        )
    return None


def _share_unknown(texts: list[str], pretrained: Any) -> float:
    """Return the share of tokens that are unknown."""
    if pretrained.unk_token_id is None:
        return 0.0
    tokens = [token for ids in _ids(texts, pretrained) for token in ids]
    return tokens.count(pretrained.unk_token_id) / max(len(tokens), 1)


def _pieces_per_word(texts: list[str], pretrained: Any) -> float:
    """Return the mean number of tokens per word, over words separated by spaces; 0 if there are none."""
    words = Counter(word for text in texts for unit in spaced_words(text) or () for word in _WORD.findall(unit))
    pieces = _ids([f" {word}" for word in words], pretrained)  # some tokenizers treat the space as part of the word
    return sum(len(ids) * count for ids, count in zip(pieces, words.values(), strict=True)) / max(words.total(), 1)


def _ids(texts: list[str], pretrained: Any) -> list[list[int]]:
    if not texts:
        return []
    encoded = pretrained(
        texts,
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,  # no warning that texts are longer than the model reads: irrelevant here
    )
    ids: list[list[int]] = encoded["input_ids"]
    return ids
