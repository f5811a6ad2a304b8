"""Milliseconds per outer step of JointMatch: networks apart, stacked, and stacked and compiled.

    python benchmarks/step_speed.py --shapes minilm bert-base
    python benchmarks/step_speed.py --shapes tiny --batch 2 --mu 2 --length 8 --turns 2 --output FILE

A step is the package's own: pseudo-labels from the weak views, a pass over B + mu * B texts, backwards, AdamW.
Weights and tokens are random, so tokenising and views are not in it. All ways take turns on the same batches,
and the median of the turns is kept. Ratios are meant to be compared; milliseconds depend on the machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from jointmatch.algorithms import build
from jointmatch.config import TrainingConfig
from jointmatch.files import write_json
from jointmatch.listener import Listener
from jointmatch.networks import Encoder, Heads, HeadShape, Networks, StackedEncoders, Tokens, find_device
from jointmatch.training import Learner, Updater
from jointmatch.training.learner import ChosenViews
from jointmatch.types import Mixing, Task

RESULT = Path(__file__).parent / "results" / "step_speed.json"
CLASSES, WARM_UP = 4, 3
SHAPES = {  # width, layers, attention heads, inner width, vocabulary
    "tiny": (16, 2, 2, 32, 100),
    "minilm": (384, 6, 12, 1536, 30522),
    "bert-base": (768, 12, 12, 3072, 30522),
}
WAYS = ("apart", "stacked", "replayed", "compiled")


class RandomTexts(Learner):
    """A learner whose texts are random tokens, all of one length."""

    def __init__(
        self, networks: Networks, rows: tuple[int, int], length: int, device: torch.device, bf16: bool
    ) -> None:
        self.networks = self.model = networks.to(device)
        self.num_networks, self.device, self.bf16 = len(networks.heads), device, bf16
        self.labels = torch.arange(rows[0], device=device) % CLASSES
        self.pool_size = rows[1]
        source = torch.Generator().manual_seed(0)
        self.given, self.pool = (torch.randint(5, 100, (count, length), generator=source).to(device) for count in rows)

    def student_logits(
        self,
        labeled: np.ndarray,
        pool: np.ndarray,
        seeds: Sequence[int],
        draw: int,
        chosen: ChosenViews | None = None,
        mixing: Mixing | None = None,
    ) -> tuple[Tensor, Tensor]:
        logits = self._logits(self.networks, torch.cat([self.given[labeled], self.pool[pool]]), seeds)
        return logits[:, : len(labeled)], logits[:, len(labeled) :]

    def weak_logits(
        self,
        module: nn.Module,
        rows: np.ndarray,
        seeds: Sequence[int] | None,
        draw: int,
        view: int = 0,
        part: Literal["pool", "labeled"] = "pool",
    ) -> Tensor:
        return self._logits(module, self.pool[rows], seeds)

    def _logits(self, module: nn.Module, ids: Tensor, seeds: Sequence[int] | None) -> Tensor:
        tokens = Tokens(ids, torch.ones_like(ids, dtype=torch.bool), np.full(len(ids), ids.shape[1]))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16, cache_enabled=False):
            return module(tokens, seeds)

    def part_logits(self, module: nn.Module, part: str) -> Tensor:
        raise NotImplementedError("a step evaluates nothing")

    def per_network(self) -> Sequence[Sequence[Tensor]]:
        pairs = zip(self.model.encoders.per_network(), self.model.heads, strict=True)
        return [[*encoder, *head.parameters()] for encoder, head in pairs]

    def encoder_parameters(self) -> list[nn.Parameter]:
        return list(self.model.encoders.parameters())

    def stacked_parameters(self) -> list[nn.Parameter]:
        return self.model.encoders.stacked_parameters()


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["minilm", "bert-base"])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--precisions", nargs="+", choices=["fp32", "bf16"], default=["fp32", "bf16"])
    parser.add_argument("--networks", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--mu", type=int, default=10)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--output", type=Path, default=RESULT)
    args = parser.parse_args(arguments)
    device = find_device(args.device)
    rows = []
    for shape in args.shapes:
        for precision in args.precisions:
            rows += measure(args, shape, precision, device)
    settings = {name: getattr(args, name) for name in ("networks", "batch", "mu", "length", "dropout", "turns")}
    result = {"settings": settings, "steps": rows, "machine": machine(device)}
    write_json(args.output, result)
    return result


def measure(args: argparse.Namespace, shape: str, precision: str, device: torch.device) -> list[dict[str, Any]]:
    """Each way's median step, with its ratio to networks apart."""
    updaters = {way: updater_of(args, shape, precision == "bf16", way, device) for way in args.ways}
    seconds: dict[str, list[float]] = {way: [] for way in args.ways}
    for number in range(WARM_UP + args.turns):
        for way, updater in updaters.items():
            waited(device)
            start = time.perf_counter()
            updater.step(number)
            waited(device)
            seconds[way].append(time.perf_counter() - start)
    medians = {way: 1000 * statistics.median(values[WARM_UP:]) for way, values in seconds.items()}
    base = medians.get("apart")
    found = []
    for way, value in medians.items():
        ratio = None if base is None else base / value
        found.append({"shape": shape, "precision": precision, "way": way, "ms": value, "times_faster": ratio})
        told = "" if ratio is None else f"   {ratio:.2f} x"
        print(f"{shape:10} {precision}  {way:18} {value:9.2f} ms{told}")
    return found


def updater_of(args: argparse.Namespace, shape: str, bf16: bool, way: str, device: torch.device) -> Updater:
    """JointMatch over random networks, held in one of the ways."""
    width, layers, heads, inner, vocabulary = SHAPES[shape]
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        hidden_dropout_prob=args.dropout,
        attention_probs_dropout_prob=args.dropout,
    )
    torch.manual_seed(0)
    encoders = [Encoder(BertModel(config), [1.0], "mean") for _ in range(args.networks)]
    held = encoders if way == "apart" else StackedEncoders.of(encoders)
    if isinstance(held, StackedEncoders):
        if way == "stacked":
            held.replay = None
        elif way == "compiled":
            held.compile_layers()
    networks = Networks(held, Heads(HeadShape(width, CLASSES), args.networks))
    learner = RandomTexts(networks, (args.batch, args.mu * args.batch), args.length, device, bf16)
    rule = build("jointmatch", Task(CLASSES, args.networks, learner.pool_size), {}).to(device)
    steps = WARM_UP + args.turns
    training = TrainingConfig(steps=steps, batch_size=args.batch, mu=args.mu, label_dropout=False)
    truth = torch.full((learner.pool_size,), -1)
    return Updater(learner, rule, training, truth, Listener())


def waited(device: torch.device) -> None:
    """All work on the device is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def machine(device: torch.device) -> dict[str, Any]:
    """What the numbers were measured on."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    return {"device": name, "cores": os.cpu_count(), "python": platform.python_version(), "torch": torch.__version__}


if __name__ == "__main__":
    main()
