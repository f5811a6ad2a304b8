"""Our feature extraction beside sentence-transformers' ``encode``: same weights, same texts, one run.

    python benchmarks/feature_speed.py --data-dir FOLDER

Both read the pool of AG News; they take turns, and the median of three turns is kept. The two results
must be the same vectors. Ratios are meant to be compared; texts per second depend on the machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from jointmatch.data.datasets import read_benchmark
from jointmatch.files import write_json
from jointmatch.networks import Encoder, Tokenizer, extract, find_backbone, load_tokenizer, load_transformer

RESULT = Path(__file__).parent / "results" / "feature_speed.json"


def main() -> None:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("JOINTMATCH_DATA"))
    parser.add_argument("--texts", type=int, default=3000)
    parser.add_argument("--turns", type=int, default=3)
    args = parser.parse_args()
    from sentence_transformers import SentenceTransformer

    texts = read_benchmark("ag_news", args.data_dir)[0].texts[: args.texts]
    backbone, cpu = find_backbone("minilm"), torch.device("cpu")
    tokenizer = Tokenizer(load_tokenizer(backbone), 256)
    one = Encoder(load_transformer(backbone), [1.0], "mean").eval()
    two = Encoder(load_transformer(backbone), [1.0, 0.67], "mean").eval()
    peer = SentenceTransformer(backbone.source, device="cpu")
    ways: dict[str, Callable[[list[str]], Any]] = {
        "jointmatch, last layer": lambda part: extract(part, one, tokenizer, cpu),
        "jointmatch, two layers": lambda part: extract(part, two, tokenizer, cpu),
        "sentence-transformers encode": lambda part: peer.encode(part, batch_size=32, show_progress_bar=False),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, Any] = {}
    for way in ways.values():
        way(texts[:100])
    for _ in range(args.turns):
        for name, way in ways.items():
            start = time.perf_counter()
            found[name] = way(texts)
            seconds[name].append(time.perf_counter() - start)
    ours = found["jointmatch, last layer"][0]
    ours = ours / np.linalg.norm(ours, axis=-1, keepdims=True)
    rates = {name: len(texts) / statistics.median(values) for name, values in seconds.items()}
    base = rates["sentence-transformers encode"]
    result = {
        "texts": len(texts),
        "texts_per_second": rates,
        "ratio_to_sentence_transformers": {name: rate / base for name, rate in rates.items()},
        "seconds": seconds,
        "largest_difference": float(np.abs(ours - found["sentence-transformers encode"]).max()),
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "torch": torch.__version__},
    }
    write_json(RESULT, result)
    for name, rate in rates.items():
        print(f"{name:32} {rate:8.1f} texts/s   {rate / base:.2f} x")
    print(f"largest difference of a unit vector's entry: {result['largest_difference']:.2e}")


if __name__ == "__main__":
    main()
