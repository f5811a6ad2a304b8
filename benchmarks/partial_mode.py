"""A mode between lite and full on a CPU: the lower layers run once, the last k of them are trained with the heads.

    python -m benchmarks.partial_mode --data-dir FOLDER --folder KEPT --lite
    python -m benchmarks.partial_mode --data-dir FOLDER --folder KEPT --depth 2 --rates 1e-4 3e-4 --seeds 0

What a layer gives for every token of every text is kept in float16 in a folder. A text is then a row of places in that
file, and a network an ordinary encoder whose embeddings are a look-up there and whose layers are the last k. Learner,
updater and loop are those of mode full, and so are the settings but for what the options say; heads start warm. Every
call adds its runs to the result file. Scores are of the last step, on dev; test is not read. Seconds are the
processor's own, which other programs do not lengthen.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from jointmatch.assembly import Assembly
from jointmatch.augment import parse
from jointmatch.benchmark.machines import machine
from jointmatch.comparison import train_heads
from jointmatch.config import recipe
from jointmatch.data import Splits, Texts
from jointmatch.data.datasets import load_benchmark
from jointmatch.files import write_json
from jointmatch.networks import (
    Encoder,
    Networks,
    Tokenizer,
    Tokens,
    extract,
    find_backbone,
    load_tokenizer,
    load_transformer,
    quicken,
)
from jointmatch.networks.encoder import depth_of, pool
from jointmatch.networks.features import TOKENS_PER_CORE
from jointmatch.networks.mixing import layers_of
from jointmatch.networks.tokens import in_batches
from jointmatch.pretrained import length_sorted
from jointmatch.randomness import generator
from jointmatch.resolve import resolve
from jointmatch.run import run
from jointmatch.training import FeatureSet, FullLearner, Listener, Loop, Updater, autocast_dtype
from jointmatch.training.metrics import brief
from jointmatch.types import Mixing

RESULT = Path(__file__).parent / "results" / "partial_mode.json"
CPU = torch.device("cpu")
SAMPLE = 1000  # texts by which lite's features are timed


class Memory:
    """What some layers give for each token of many texts, and the pooled vectors of others, in files of a folder.

    Args:
        folder: Where they are, or will be.
        texts: All that will be asked for.
        tokenizer: Of the backbone, with the length that texts are cut at.
    """

    def __init__(self, folder: Path, texts: Sequence[str], tokenizer: Tokenizer) -> None:
        self.folder, self.tokenizer = folder, tokenizer
        self.texts = list(dict.fromkeys(texts))
        self.ids = tokenizer.encode(self.texts)
        self.ends = np.cumsum([len(ids) for ids in self.ids])
        self.number = {text: i for i, text in enumerate(self.texts)}

    def places(self, text: str) -> range:
        """Where the text's tokens are in a layer's file."""
        i = self.number[text]
        return range(self.ends[i] - len(self.ids[i]), self.ends[i])

    def tokens(self, depth: int) -> np.ndarray:
        """(tokens, D) after so many layers."""
        return np.load(self.folder / f"tokens-{depth}.npy", mmap_mode="r")

    def pooled(self, depth: int, texts: Sequence[str]) -> Tensor:
        """(M, D)."""
        rows = [self.number[text] for text in texts]
        return torch.from_numpy(np.load(self.folder / f"pooled-{depth}.npy")[rows])

    @torch.inference_mode()
    def fill(self, encoder: Encoder, below: set[int]) -> dict[str, Any]:
        """Run all texts once, unless that was done; keep tokens of the depths ``below`` and pooled ones of all."""
        facts = self.folder / "facts.json"
        if facts.exists():
            found = json.loads(facts.read_text(encoding="utf-8"))
            assert (found["texts"], found["tokens"]) == (len(self.ids), self.ends[-1]), "kept for other texts"
            return found
        self.folder.mkdir(parents=True, exist_ok=True)
        start = time.process_time()
        quicken(encoder.eval(), "auto")
        depths, width, count = set(encoder.depths), encoder.width, int(self.ends[-1])
        kept = {d: self._new(f"tokens-{d}", (count, width), "float16") for d in below}
        pooled = {d: self._new(f"pooled-{d}", (len(self.ids), width), "float32") for d in depths}

        def forward(tokens: Tokens) -> Tensor:
            hidden = (encoder.quick or encoder._hidden)(tokens)
            return torch.stack([hidden[d] for d in sorted(depths)])

        for rows, found in in_batches(self.tokenizer, self.ids, TOKENS_PER_CORE, CPU, forward):
            mask = self.tokenizer.pad([self.ids[i] for i in rows]).mask
            places = np.concatenate([self.places(self.texts[i]) for i in rows])
            for depth, hidden in zip(sorted(depths), found, strict=True):
                pooled[depth][rows] = pool(hidden, mask, encoder.pooling).numpy()
                if depth in kept:
                    kept[depth][places] = hidden[mask].half().numpy()
        seconds = time.process_time() - start
        size = {"texts": len(self.ids), "tokens": count, "bytes_per_depth": count * width * 2}
        rates = {"depths": sorted(below), "seconds": seconds, "texts_per_second": len(self.ids) / seconds}
        write_json(facts, {**size, **rates})
        return {**size, **rates}

    def _new(self, name: str, shape: tuple[int, int], dtype: str) -> np.ndarray:
        return np.lib.format.open_memmap(self.folder / f"{name}.npy", mode="w+", dtype=dtype, shape=shape)


class Places(Tokenizer):
    """Texts to places in the memory's files, which stand where token ids do."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.tokenizer.pretrained, memory.tokenizer.max_length)
        self.memory = memory

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [list(self.memory.places(text)) for text in texts]


class Recall(nn.Module):
    """Stands where the embeddings do; nothing in it learns, and its averaged double is itself."""

    def __init__(self, tokens: np.ndarray) -> None:
        super().__init__()
        self.tokens = tokens

    def forward(self, input_ids: Tensor, **ignored: Any) -> Tensor:
        """(B, T) -> (B, T, D)."""
        return torch.from_numpy(self.tokens[input_ids.numpy()]).float()

    def __deepcopy__(self, memo: dict[int, Any]) -> Recall:
        return self


class Upper(Encoder):
    """The last layers up to some depth, over what is recalled; texts of similar length go together, to pad little."""

    def __init__(self, transformer: nn.Module, top: int, depth: int, memory: Memory, pooling: Any) -> None:
        transformer = copy.deepcopy(transformer)
        layers = layers_of(transformer)
        transformer.embeddings = Recall(memory.tokens(top - depth))
        transformer.encoder.layer = nn.ModuleList(layers[top - depth : top])  # type: ignore[union-attr]
        transformer.pooler = None  # type: ignore[assignment]
        super().__init__(transformer, [1.0], pooling)

    def forward(self, tokens: Tokens, mixing: Mixing | None = None) -> Tensor:
        """(B, T) -> (1, B, D)."""
        groups = list(length_sorted(tokens.lengths.tolist(), TOKENS_PER_CORE))
        found = torch.cat([super(Upper, self).forward(tokens.rows(np.array(rows))) for rows in groups], dim=1)
        return found[:, torch.from_numpy(np.argsort(np.concatenate(groups)))]


class Clock(Listener):
    """Keeps the processor's time after each step of training."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def stage(self, name: str, total: int | None) -> None:
        self.times = []

    def advance(self, amount: int = 1, **metrics: float) -> None:
        self.times.append(time.process_time())

    @property
    def per_step(self) -> float:
        """The median over the steps; those after an evaluation are longer."""
        return float(np.median(np.diff(self.times)))


def partial(splits: Splits, memory: Memory, settings: dict[str, Any], depth: int) -> dict[str, Any]:
    """Train the last ``depth`` layers and the heads; what came of it."""
    assembly = Assembly(splits, resolve(settings, "full"), settings, Listener())
    config, start = assembly.config, time.process_time()
    tops = tops_of(assembly)
    weak = splits.pool.weak or splits.pool.texts
    assert splits.dev is not None
    truth = np.array(splits.dev.labels)
    features = FeatureSet(
        labeled=torch.stack([memory.pooled(top, splits.labeled.weak or splits.labeled.texts) for top in tops]),
        labels=torch.tensor(splits.labeled.labels),
        weak=(pooled := torch.stack([memory.pooled(top, weak) for top in tops])),
        strong=[torch.stack([memory.pooled(top, splits.pool.strong or weak) for top in tops])],
        parts={"pool": pooled},
    )
    warm = train_heads(features, assembly.lite_config(), assembly.num_classes)
    seconds = time.process_time() - start
    at_start = warm.predict_proba(torch.stack([memory.pooled(top, splits.dev.texts) for top in tops]))
    transformer, pooling = load_transformer(assembly.backbone), config.network.pooling
    encoders = [Upper(transformer, top, depth, memory, pooling) for top in tops]
    networks = Networks(encoders, warm.heads)
    dtype = autocast_dtype(CPU, config.training.precision)
    learner = FullLearner(splits, networks, Places(memory), assembly.views, CPU, dtype)
    clock, pool_truth = Clock(), torch.tensor(splits.pool.labels)
    updater = Updater(learner, assembly.algorithm(), config.training, pool_truth, Listener())
    trained = Loop(updater, clock, {"dev": truth}).run()
    return {
        "accuracy_at_start": brief(at_start, truth)["accuracy"],
        "accuracy": trained.last["dev"]["accuracy"],
        "curve": {record["step"]: record["dev_accuracy"] for record in trained.history},
        "selected": [round(record["selected"], 4) for record in trained.history if "selected" in record],
        "parameters": sum(p.numel() for p in networks.parameters()),
        "seconds_warm_start": seconds,
        "seconds_per_step": clock.per_step,
        "seconds_training": seconds + clock.per_step * config.training.steps,
    }


def tops_of(assembly: Assembly) -> list[int]:
    """The layer that each network ends with."""
    total = int(load_transformer(assembly.backbone).config.num_hidden_layers)
    return [depth_of(share, total) for share in assembly.layers]


def lite(splits: Splits, settings: dict[str, Any]) -> dict[str, Any]:
    """The recipe as it is."""
    clock = Clock()
    found = run(splits, settings, listener=clock).result
    steps = found["steps"]
    return {
        "accuracy": found["scores_of_last_step"]["dev"]["accuracy"],
        "seconds_per_step": clock.per_step,
        "seconds_training": clock.per_step * steps,
    }


def splits_of(args: argparse.Namespace, seed: int) -> Splits:
    """The benchmark's, without test and with fewer dev texts; views are made once, the same for all seeds."""
    splits = load_benchmark(args.dataset, args.labels, seed, args.data_dir)
    assert splits.dev is not None
    size = len(splits.dev)
    rows = np.sort(generator(0, "dev").permutation(size)[: args.dev or size])
    splits = replace(splits, dev=splits.dev.rows(rows.tolist()), test=None)
    if args.views == "none":
        return splits
    change = parse(args.views)

    def view(text: str, which: int) -> str:
        (made,) = change([text], generator(which, "views", text))
        return made

    def viewed(part: Texts) -> Texts:
        return replace(part, weak=[view(x, 0) for x in part.texts], strong=[view(x, 1) for x in part.texts])

    return replace(splits, labeled=viewed(splits.labeled), pool=viewed(splits.pool))


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure, and add to the result file."""
    args = parsed(arguments)
    every = {seed: splits_of(args, seed) for seed in args.seeds}
    result: dict[str, Any] = json.loads(args.output.read_text(encoding="utf-8")) if args.output.exists() else {}
    own = result.setdefault(args.dataset, {"runs": {}})
    first = every[args.seeds[0]]
    own |= {"labels": args.labels, "pool": len(first.pool), "dev": len(first.dev or [])}
    network = {"backbone": args.backbone}
    if args.lite:
        own["features"] = features_of_lite(first.pool.texts[:SAMPLE], args.backbone)
        for seed, splits in every.items():
            settings = {"training": {"mode": "lite", "seed": seed, "device": "cpu"}, "network": network}
            found = lite(splits, {**settings, "output": {"baselines": False}})
            keep(args, result, "lite", seed, found)
        return result
    memory, own["activations, views " + args.views] = remembered(args, every)
    for rate, seed in itertools.product(args.rates, args.seeds):
        settings = {
            "network": {**network, "layers": args.layers, "max_length": args.length},
            "augment": {"weak": "none", "strong": ["none"]},
            "algorithm": recipe("best", "lite")["algorithm"] if args.rule == "lite" else {},
            "training": {
                "seed": seed,
                "device": "cpu",
                "steps": args.steps,
                "mu": args.mu,
                "learning_rate": rate,
                "precision": args.precision,
                "evaluate_every": args.evaluate_every,
                "evaluate_on": args.evaluate_on,
            },
        }
        name = (
            f"partial, k {args.depth}, layers {' '.join(f'{x:g}' for x in args.layers)}, views {args.views}, "
            f"rate {rate:g}, mu {args.mu}, steps {args.steps}, {args.precision}"
            f"{', rule of lite' if args.rule == 'lite' else ''}"
        )
        keep(args, result, name, seed, partial(every[seed], memory, settings, args.depth))
    return result


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("JOINTMATCH_DATA"))
    parser.add_argument("--folder", type=Path, required=True, help="where activations are kept, one for each data set")
    parser.add_argument("--dataset", default="ag_news")
    parser.add_argument("--labels", type=int, default=10, help="per class")
    parser.add_argument("--dev", type=int, default=4000, help="dev texts that are scored; 0: all")
    parser.add_argument("--backbone", default="minilm")
    parser.add_argument("--lite", action="store_true", help="measure mode lite, as its recipe has it")
    parser.add_argument("--depth", type=int, default=1, help="k, how many layers are trained")
    parser.add_argument("--kept", type=int, nargs="+", default=[1, 2], help="every k that activations are kept for")
    parser.add_argument("--layers", type=float, nargs="+", default=[1.0, 0.67], help="where each network ends")
    parser.add_argument("--rule", choices=["lite", "full"], default="full", help="whose threshold, targets and weight")
    parser.add_argument("--views", default="none", help="an augmenter, for a weak and a strong view made once")
    parser.add_argument("--length", type=int, default=64, help="tokens that texts are cut at")
    parser.add_argument("--rates", type=float, nargs="+", default=[3e-4])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--mu", type=int, default=4)
    parser.add_argument("--evaluate-every", type=int, default=100)
    parser.add_argument("--evaluate-on", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=RESULT)
    return parser.parse_args(arguments)


def remembered(args: argparse.Namespace, every: dict[int, Splits]) -> tuple[Memory, dict[str, Any]]:
    """The activations of all texts of all seeds, and what they took."""
    parts = [
        part for splits in every.values() for part in (splits.labeled, splits.pool, splits.dev) if part is not None
    ]
    # Seeds draw their labels from the same texts; sorted, these are the same list whatever the seeds.
    texts = sorted({text for part in parts for column in (part.texts, part.weak, part.strong) for text in column or []})
    backbone = find_backbone(args.backbone)
    memory = Memory(args.folder / args.views, texts, Tokenizer(load_tokenizer(backbone), args.length))
    transformer = load_transformer(backbone)
    total = int(transformer.config.num_hidden_layers)
    tops = {depth_of(share, total) for share in args.layers}
    below = {top - depth for top in tops for depth in args.kept if top > depth}
    return memory, memory.fill(Encoder(transformer, [d / total for d in sorted(tops | below)], "mean"), below)


def features_of_lite(texts: Sequence[str], name: str) -> dict[str, float]:
    """What the features that mode lite computes take."""
    backbone = find_backbone(name)
    config = resolve({}, "lite").network
    encoder = Encoder(load_transformer(backbone), config.layers, config.pooling)
    tokenizer = Tokenizer(load_tokenizer(backbone), config.max_length)
    quicken(encoder.eval(), config.engine)
    start = time.process_time()
    found = extract(texts, encoder, tokenizer, CPU)
    seconds = time.process_time() - start
    return {"texts_per_second": len(texts) / seconds, "bytes_per_text": found.nbytes / len(texts)}


def keep(args: argparse.Namespace, result: dict[str, Any], name: str, seed: int, found: dict[str, Any]) -> None:
    """Write what a run gave beside what others did."""
    result[args.dataset]["runs"].setdefault(name, {})[str(seed)] = found
    result["machine"] = {**machine(CPU), "threads": torch.get_num_threads()}
    write_json(args.output, result)
    print(f"{args.dataset}, {name}, seed {seed}: {json.dumps(found)}", flush=True)


if __name__ == "__main__":
    main()
