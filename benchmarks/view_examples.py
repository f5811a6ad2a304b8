"""Print what an augmenter makes of random texts of the corpus inside the package, as a markdown table.

python benchmarks/view_examples.py synonym:0.3
"""

from __future__ import annotations

import sys

import numpy as np

from jointmatch.augment import make_views, parse
from jointmatch.data.demo import demo_splits

COUNT, WORDS = 20, range(8, 23)


def examples(spec: str, seed: int = 0) -> list[tuple[str, str]]:
    """Texts of a readable length that changed, and their views: drawn, not picked."""
    splits = demo_splits(5, seed)
    texts = [text for text in splits.pool.texts if len(text.split()) in WORDS]
    order = np.random.default_rng(seed).permutation(len(texts))
    views = make_views(texts, parse(spec))
    changed = [(texts[i], views[i]) for i in order if views[i] != texts[i]]
    return changed[:COUNT]


def main() -> None:
    """One table for each augmenter named."""
    for spec in sys.argv[1:]:
        lines = [f"| {text} | {view} |".replace("\n", " ") for text, view in examples(spec)]
        print("\n".join(["| text | view |", "|---|---|", *lines]))


if __name__ == "__main__":
    main()
