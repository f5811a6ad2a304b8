"""Ask the embedded backbone how close WordNet's synonyms are; writes closeness.txt of the package.

    python -m benchmarks.synonym_closeness

Some minutes on one core. What reading outputs said about a pair stands in synonym_readings.txt
and goes before what the backbone says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from jointmatch.augment.wordnet import source, thesaurus
from jointmatch.augment.wordnet.choice import Closeness
from jointmatch.augment.wordnet.levels import LEVELS, Level
from jointmatch.files import write_text
from jointmatch.networks.backbones import find_backbone, load_tokenizer, load_transformer
from jointmatch.networks.encoder import pool

OUTPUT = Path(__file__).parent.parent / "src" / "jointmatch" / "augment" / "wordnet" / "closeness.txt"
READINGS = Path(__file__).parent / "synonym_readings.txt"
GOOD = 100  # per cent, one way: no two words are that close to the encoder
HEAD = """\
# How close the encoder all-MiniLM-L6-v2 finds words that WordNet 3.0 lists as synonyms, in percent, and what
# reading outputs said: 100 is a word that reads well for the one at the start of the line, this way round alone.
# Made by benchmarks/synonym_closeness.py; do not edit: what reads badly is written down in synonym_readings.txt.
# The pairs are from WordNet 3.0, Copyright 2006 by Princeton University. All rights reserved.
# Its licence, which goes with every copy, is in LICENSE-WordNet.txt beside this file.
"""

Pair = tuple[str, str]


@torch.no_grad()
def vectors(words: list[str], batch: int = 256) -> torch.Tensor:
    """(words, D), of length 1."""
    backbone = find_backbone("minilm")
    tokenizer, transformer = load_tokenizer(backbone), load_transformer(backbone).eval()
    parts = []
    for start in range(0, len(words), batch):
        tokens = tokenizer(words[start : start + batch], padding=True, return_tensors="pt")
        hidden = transformer(**tokens).last_hidden_state
        parts.append(pool(hidden, tokens["attention_mask"], "mean"))
    return torch.nn.functional.normalize(torch.cat(parts), dim=1)


def pairs(close: Closeness, levels: Sequence[Level] = LEVELS) -> set[Pair]:
    """Lemma and synonym of all that pass, were they as close as ``close`` says."""
    found = thesaurus.build(source.find().read(), close, levels).words
    return {
        (lemma, word)
        for lemma, by_pos in found.items()
        for _, by_level in by_pos.values()
        for synonyms in by_level
        for word in synonyms
    }


def readings() -> tuple[set[str], dict[Pair, str]]:
    """Words that never stand for another, and each pair's mark: its way round for "+", in order for the rest."""
    never: set[str] = set()
    marks: dict[Pair, str] = {}
    for line in READINGS.read_text().splitlines():
        word, *others = line.partition("#")[0].split() or [""]
        if word and not others:
            never.add(word)
        for marked in others:
            other = marked.rstrip("+")
            mark = marked[len(other) :]
            marks[(word, other) if mark == "+" else ordered(word, other)] = mark
    return never, marks


def ordered(word: str, other: str) -> Pair:
    """The pair as it is looked up where the way round does not matter."""
    return min(word, other), max(word, other)


def main() -> None:
    """Measure every pair that could pass, and keep those that do."""
    asked = sorted(
        {ordered(*pair) for pair in pairs(lambda _, __: 0.99, [replace(level, kin=0.0) for level in LEVELS])}
    )
    words = sorted({word for pair in asked for word in pair})
    place = {word: i for i, word in enumerate(words)}
    found = vectors(words)
    never, marks = readings()
    percent = {(a, b): round(100 * float(found[place[a]] @ found[place[b]])) for a, b in asked}

    def close(word: str, other: str) -> float:
        pair = ordered(word, other)
        if word in never or other in never or marks.get(pair) == "":
            return 0.0
        if marks.get((word, other)) == "+":
            return GOOD / 100
        return percent.get(pair, 0) / 100

    lines: dict[str, set[str]] = defaultdict(set)
    for lemma, word in pairs(close):
        value = round(100 * close(lemma, word))
        first, second = (lemma, word) if value == GOOD else ordered(lemma, word)
        lines[first].add(f"{second} {value}")
    write_text(OUTPUT, HEAD + "".join(f"{word} {' '.join(sorted(lines[word]))}\n" for word in sorted(lines)))
    print(f"{sum(map(len, lines.values()))} of {len(asked)} pairs kept, {OUTPUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
