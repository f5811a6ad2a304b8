"""Ask the embedded backbone how close WordNet's synonyms are; writes src/jointmatch/augment/closeness.txt.

    python -m benchmarks.synonym_closeness

About a minute on one core. Pairs that reading the outputs showed to be wrong in most texts
are vetoed in synonym_vetoes.txt.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import torch

from jointmatch.augment import thesaurus, wordnet
from jointmatch.files import write_text
from jointmatch.networks.backbones import find_backbone, load_tokenizer, load_transformer
from jointmatch.networks.encoder import pool

OUTPUT = Path(__file__).parent.parent / "src" / "jointmatch" / "augment" / "closeness.txt"
VETOES = Path(__file__).parent / "synonym_vetoes.txt"
HEAD = """\
# How close the encoder all-MiniLM-L6-v2 finds words that WordNet 3.0 lists as synonyms, in percent.
# Made by benchmarks/synonym_closeness.py; do not edit: a pair that reads badly is vetoed in synonym_vetoes.txt.
# The pairs are from WordNet 3.0, Copyright 2006 by Princeton University. All rights reserved.
"""


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


def pairs(close: thesaurus.Closeness) -> set[tuple[str, str]]:
    """The pairs that pass, were they as close as ``close`` says."""
    found = thesaurus.build(wordnet.find().read(), close).words
    return {
        (min(lemma, word), max(lemma, word))
        for lemma, by_pos in found.items()
        for _, synonyms in by_pos.values()
        for word in synonyms
    }


def main() -> None:
    """Measure every pair that could pass, and keep those that do."""
    asked = sorted(pairs(lambda word, other: 1.0))
    words = sorted({word for pair in asked for word in pair})
    place = {word: i for i, word in enumerate(words)}
    found = vectors(words)
    vetoes = [line.split() for line in VETOES.read_text().splitlines() if not line.startswith("#")]
    vetoed = {(word, other) for word, *others in vetoes for other in others}
    percent = {(a, b): round(100 * float(found[place[a]] @ found[place[b]])) for a, b in asked if (a, b) not in vetoed}
    kept = pairs(lambda a, b: percent.get((min(a, b), max(a, b)), 0) / 100)
    lines = defaultdict(list)
    for a, b in sorted(kept):
        lines[a].append(f"{b} {percent[a, b]}")
    write_text(OUTPUT, HEAD + "".join(f"{word} {' '.join(others)}\n" for word, others in lines.items()))
    print(f"{len(kept)} of {len(asked)} pairs kept, {OUTPUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
