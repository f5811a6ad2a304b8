"""Our feature extraction beside sentence-transformers' ``encode`` and ONNX Runtime: same weights, same texts, one run.

    python -m benchmarks.feature_speed --data-dir FOLDER

All read texts of AG News' pool; they take turns, and the median of the turns is kept. Every way is held against
``transformers``' own features: the length of the difference over the length of the feature. Ratios are meant to be
compared; texts per second depend on the machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.onnx_bert import session
from jointmatch.benchmark.machines import machine
from jointmatch.data.datasets import read_benchmark
from jointmatch.files import write_json
from jointmatch.networks import (
    Encoder,
    Engine,
    Tokenizer,
    Tokens,
    extract,
    find_backbone,
    load_tokenizer,
    load_transformer,
    quicken,
    tokens_per_batch,
)
from jointmatch.networks.quick import Linear, QuickBert, quicker_in_fp32
from jointmatch.networks.tokens import in_batches

RESULT = Path(__file__).parent / "results" / "feature_speed.json"
PEER = "sentence-transformers encode"
PLAIN = "transformers module, two layers"
CPU = torch.device("cpu")
Way = Callable[[list[str]], np.ndarray]


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("JOINTMATCH_DATA"))
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--output", type=Path, default=RESULT)
    args = parser.parse_args(arguments)
    texts = read_benchmark("ag_news", args.data_dir)[0].texts[: args.texts]
    begun = {}
    ways: dict[str, Way] = {}
    for name, make in makers().items():
        start = time.perf_counter()
        ways[name] = make()
        ways[name](texts[:100])
        begun[name] = time.perf_counter() - start
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    processor: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, np.ndarray] = {}
    for _ in range(args.turns):
        for name, way in ways.items():
            start, used = time.perf_counter(), time.process_time()
            found[name] = way(texts)
            seconds[name].append(time.perf_counter() - start)
            processor[name].append(time.process_time() - used)
    result: dict[str, Any] = {
        "texts": len(texts),
        **rates(len(texts), seconds, processor),
        "distance_from_transformers": {name: distance(found[name], found[PLAIN]) for name in ways if name != PLAIN},
        "seconds_to_begin": begun,
        "seconds": seconds,
        "processor_seconds": processor,
        "machine": {**machine(CPU), **versions()},
    }
    write_json(args.output, result)
    for name, ratio in result["ratio_to_sentence_transformers"].items():
        far = result["distance_from_transformers"].get(name, {"largest": 0.0})["largest"]
        print(f"{name:44} {result['texts_per_second'][name]:7.1f} texts/s   {ratio:.2f} x   at most {far:.1e} away")


def makers() -> dict[str, Callable[[], Way]]:
    """The ways by name, each made when it is called."""
    return {
        "jointmatch, last layer": lambda: ours([1.0], "auto"),
        "jointmatch, two layers": lambda: ours([1.0, 0.67], "auto"),
        "jointmatch, two layers, torch's own products": lambda: ours([1.0, 0.67], "auto", Linear),
        "jointmatch, two layers, int8": lambda: ours([1.0, 0.67], "int8"),
        PLAIN: lambda: ours([1.0, 0.67], "transformers"),
        "ONNX Runtime, two layers": lambda: by_onnx(int8=False),
        "ONNX Runtime, two layers, int8": lambda: by_onnx(int8=True),
        PEER: peer,
    }


def ours(layers: list[float], engine: Engine, kind: type[Linear] | None = None) -> Way:
    """The package's own extraction; with ``kind``, products are done that way, whichever is the quicker one."""
    backbone = find_backbone("minilm")
    tokenizer, encoder = Tokenizer(load_tokenizer(backbone), 256), Encoder(load_transformer(backbone), layers, "mean")
    reason = quicken(encoder.eval(), engine)
    assert reason is None, reason
    if kind is not None:
        encoder.quick = QuickBert(encoder.transformer, set(encoder.depths), kind)
    return lambda texts: extract(texts, encoder, tokenizer, CPU)


def by_onnx(int8: bool) -> Way:
    """The same batches through ONNX Runtime."""
    backbone = find_backbone("minilm")
    tokenizer = Tokenizer(load_tokenizer(backbone), 256)
    runtime = session(load_transformer(backbone), [4, 6], int8, torch.get_num_threads())

    def forward(tokens: Tokens) -> torch.Tensor:
        fourth, last = runtime.run(None, {"ids": tokens.ids.numpy(), "mask": tokens.mask.int().numpy()})
        return torch.from_numpy(np.stack([last, fourth]))

    def way(texts: list[str]) -> np.ndarray:
        out = np.empty((2, len(texts), 384), np.float32)
        for rows, found in in_batches(tokenizer, tokenizer.encode(texts), tokens_per_batch(CPU), CPU, forward):
            out[:, rows] = found.numpy()
        return out

    return way


def peer() -> Way:
    """sentence-transformers, whose features have unit length."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(find_backbone("minilm").source, device="cpu")
    return lambda texts: np.asarray(model.encode(texts, batch_size=32, show_progress_bar=False))[None]


def rates(
    texts: int, seconds: dict[str, list[float]], processor: dict[str, list[float]]
) -> dict[str, dict[str, float]]:
    """Texts per second and ratios, by the clock and by the processor time that was used."""
    clock = {name: texts / statistics.median(values) for name, values in seconds.items()}
    used = {name: texts / statistics.median(values) for name, values in processor.items()}
    return {
        "texts_per_second": clock,
        "ratio_to_sentence_transformers": {name: rate / clock[PEER] for name, rate in clock.items()},
        "ratio_by_processor_time": {name: rate / used[PEER] for name, rate in used.items()},
    }


def distance(found: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    """Mean and largest distance of unit vectors, over the layers both have."""
    a, b = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (found, wanted[: len(found)]))
    away = np.linalg.norm(a - b, axis=-1)
    return {"mean": float(away.mean()), "largest": float(away.max())}


def versions() -> dict[str, Any]:
    """What else the numbers depend on."""
    import onnxruntime
    import sentence_transformers

    return {
        "threads": torch.get_num_threads(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "products": quicker_in_fp32(1536, 384, torch.get_num_threads()).__name__,
        "load_average": os.getloadavg(),
        "onnxruntime": onnxruntime.__version__,
        "sentence_transformers": sentence_transformers.__version__,
    }


if __name__ == "__main__":
    main()
