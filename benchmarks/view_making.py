"""How fast views are made and read back, and how much of a text they change.

    python benchmarks/view_making.py --data-dir FOLDER

Synonyms on one core, Apertium on all; both on the pool of AG News. Needs WordNet and Apertium (jointmatch augmenters).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
RATE = 0.3


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("JOINTMATCH_DATA"))
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--output", type=Path, default=RESULTS / "view_making.json")
    args = parser.parse_args()

    from jointmatch.data.datasets import load_benchmark
    from jointmatch.files import write_json

    texts = load_benchmark("ag_news", 1, 0, args.data_dir).pool.texts[: args.texts]
    found = {"cores": os.cpu_count(), "texts": len(texts), "synonym": synonyms(texts), "apertium": apertium(texts)}
    write_json(args.output, found)
    print(args.output.read_text())


def synonyms(texts: list[str]) -> dict[str, Any]:
    """Speed and load time, and the share of words replaced."""
    from jointmatch.augment import Synonym

    augmenter = Synonym(RATE)
    thirty = [" ".join(text.split()[:30]) for text in texts if len(text.split()) >= 30]
    warm, timed = thirty[:2000], thirty[2000:8000]
    augmenter(warm, np.random.default_rng(0))  # loads, and builds the compact cache where it is missing
    start = time.perf_counter()
    augmenter(timed, np.random.default_rng(1))
    speed = len(timed) / (time.perf_counter() - start)
    views = augmenter(texts, np.random.default_rng(2))
    shares = np.array([_share(text, view) for text, view in zip(texts, views, strict=True)])
    most = [_share(text, view) for text, view in zip(texts, Synonym(1.0)(texts, np.random.default_rng(2)), strict=True)]
    enough = np.array(most) >= RATE
    return {
        "texts_of_30_words_per_second": speed,
        "load_seconds": _load_seconds(),
        "rate": RATE,
        "share_of_words_replaced": float(shares.mean()),
        "share_of_words_eligible": float(np.mean(most)),
        "share_of_texts_with_enough_eligible": float(enough.mean()),
        "share_replaced_where_enough_are_eligible": float(shares[enough].mean()),
        "share_of_texts_unchanged": float((shares == 0).mean()),
    }


def _share(text: str, view: str) -> float:
    before, after = text.split(), view.split()
    return sum(a != b for a, b in zip(before, after, strict=True)) / max(len(before), 1)


def _load_seconds() -> float:
    """In a new process, from the compact cache."""
    program = (
        "import time; from jointmatch.augment import Synonym; s = Synonym(); t = time.perf_counter(); s.reader; "
        "print(time.perf_counter() - t)"
    )
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def apertium(texts: list[str]) -> dict[str, Any]:
    """Seconds of the first round trip, and of reading it back."""
    from jointmatch.augment import BackTranslation, make_views
    from jointmatch.augment.translation import Apertium
    from jointmatch.cache import Cache

    with tempfile.TemporaryDirectory() as folder:
        augmenter = BackTranslation(Apertium())
        start = time.perf_counter()
        views = make_views(texts, augmenter, cache=Cache("views", Path(folder)))
        first = time.perf_counter() - start
        start = time.perf_counter()
        again = make_views(texts, BackTranslation(Apertium()), cache=Cache("views", Path(folder)))
        second = time.perf_counter() - start
    assert again == views
    counts = augmenter.counts
    return {
        "seconds": first,
        "seconds_from_cache": second,
        "times_faster": first / second,
        "made": counts.made,
        "unchanged": counts.unchanged,
        "left_as_they_were": {str(fault): number for fault, number in counts.dropped.items()},
    }


if __name__ == "__main__":
    main()
