"""Milliseconds per seed and step of JointMatch: seeds one after another, and side by side.

    python benchmarks/seed_speed.py --mode lite --unlabeled 80 256 1024
    python benchmarks/seed_speed.py --mode full --shape bert-base

Mode lite trains heads over random features in the numbers of AG News; mode full whole random networks over random
tokens, stacked in either way, so that tokenising and views are not in it. Both ways take turns, and the median of
the turns is kept. On a CPU the processor's own time is counted, which other programs do not lengthen.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from jointmatch.algorithms import build
from jointmatch.benchmark.speed import CLASSES, SHAPES, VOCABULARY, machine, wait
from jointmatch.config import TrainingConfig
from jointmatch.files import write_json
from jointmatch.listener import Listener
from jointmatch.networks import (
    Encoder,
    Heads,
    HeadShape,
    Joined,
    Networks,
    StackedEncoders,
    Tokens,
    find_device,
    join_networks,
)
from jointmatch.training import FeatureSet, LiteLearner, Loop, Updater, side_by_side
from jointmatch.training.learner import ChosenViews, Joinable
from jointmatch.training.loop import Progress
from jointmatch.types import Mixing, Mixings, Task

RESULTS = Path(__file__).parent / "results"
POOL, LABELED, WIDTH = 20_000, 40, 384


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=["lite", "full"], default="full")
    parser.add_argument("--shape", choices=SHAPES, default="minilm", help="of the networks in mode full")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--networks", type=int, default=2)
    parser.add_argument("--labeled", type=int, default=8, help="texts per step")
    parser.add_argument("--unlabeled", type=int, nargs="+", default=[80], help="texts per step")
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--steps", type=int, default=10, help="per turn")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args(arguments)
    device = find_device(args.device)
    rows = [measure(args, unlabeled, device) for unlabeled in args.unlabeled]
    settings = {key: value for key, value in vars(args).items() if key not in ("output", "device", "unlabeled")}
    result = {"settings": settings, "steps": rows, "machine": machine(device)}
    write_json(args.output or RESULTS / f"seed_speed_{args.mode}.json", result)
    return result


def measure(args: argparse.Namespace, unlabeled: int, device: torch.device) -> dict[str, Any]:
    """Both ways' median."""
    make = lite_learner if args.mode == "lite" else full_learner
    ways: dict[str, Callable[[list[Loop]], Any]] = {
        "one after another": lambda loops: [loop.run() for loop in loops],
        "side by side": side_by_side,
    }
    runs = {
        way: [loop_of(make(args, seed, unlabeled, device), args, unlabeled) for seed in range(args.seeds)]
        for way in ways
    }
    found: dict[str, list[float]] = {way: [] for way in ways}
    clock = time.perf_counter if device.type == "cuda" else time.process_time
    for _ in range(args.turns + 1):  # the first is to warm up
        for way, train in ways.items():
            for loop in runs[way]:
                loop.progress = Progress()
            wait(device)
            start = clock()
            train(runs[way])
            wait(device)
            found[way].append(1000 * (clock() - start) / args.steps / args.seeds)
    medians = {way: statistics.median(values[1:]) for way, values in found.items()}
    ratio = medians["side by side"] / medians["one after another"]
    print(
        f"{unlabeled:5} unlabelled  " + "   ".join(f"{way} {ms:.2f} ms" for way, ms in medians.items()),
        f"  {ratio:.2f}",
    )
    return {"unlabeled": unlabeled, "ms_per_seed_and_step": medians, "ratio": ratio}


def loop_of(learner: Joinable, args: argparse.Namespace, unlabeled: int) -> Loop:
    """JointMatch over a learner, for as many steps as a turn has."""
    training = TrainingConfig(
        steps=args.steps,
        evaluate_every=10**9,
        batch_size=args.labeled,
        unlabeled_batch_size=unlabeled,
        label_dropout=False,
    )
    rule = build("jointmatch", Task(CLASSES, args.networks, learner.pool_size), {}).to(learner.device)
    truth = torch.full((learner.pool_size,), -1)
    return Loop(Updater(learner, rule, training, truth, Listener()), Listener())


def lite_learner(args: argparse.Namespace, seed: int, unlabeled: int, device: torch.device) -> LiteLearner:
    """Heads over random features."""
    source = torch.Generator().manual_seed(seed)
    weak, given = (torch.randn(args.networks, rows, WIDTH, generator=source).to(device) for rows in (POOL, LABELED))
    labels = torch.arange(LABELED, device=device) % CLASSES
    heads = Heads(HeadShape(WIDTH, CLASSES, dropout=0.5, scale=10.0), args.networks, seed).to(device)
    return LiteLearner(FeatureSet(given, labels, weak, [weak], {"pool": weak}), heads)


class RandomTexts(Joinable):
    """Whole networks over random tokens, all of one length."""

    def __init__(
        self, networks: Networks, rows: tuple[int, int], length: int, device: torch.device, bf16: bool
    ) -> None:
        self.networks = self.model = networks.to(device)
        self.num_networks, self.device, self.bf16 = len(networks.heads), device, bf16
        self.labels = torch.arange(rows[0], device=device) % CLASSES
        self.pool_size = rows[1]
        source = torch.Generator().manual_seed(0)
        self.given, self.pool = (torch.randint(5, 100, (count, length), generator=source).to(device) for count in rows)

    def student_inputs(
        self, labeled: np.ndarray, pool: np.ndarray, draw: int, chosen: ChosenViews | None
    ) -> list[Tokens]:
        return self._tokens(torch.cat([self.given[labeled], self.pool[pool]]))

    def weak_inputs(self, rows: np.ndarray, draw: int, view: int, part: Literal["pool", "labeled"]) -> list[Tokens]:
        return self._tokens(self.pool[rows])

    def _tokens(self, ids: Tensor) -> list[Tokens]:
        return [Tokens(ids, torch.ones_like(ids, dtype=torch.bool))]

    def logits(
        self,
        module: nn.Module,
        inputs: list[Tokens],
        seeds: Sequence[int] | None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            logits: Tensor = module(inputs if len(inputs) > 1 else inputs[0], seeds, mixing)
        return logits

    def why_not_joined(self) -> str | None:
        return None

    def bytes_to_train(self) -> int:
        return 0

    def join(self, modules: Sequence[nn.Module]) -> Joined:
        return join_networks([module for module in modules if isinstance(module, Networks)])

    def part_logits(self, module: nn.Module, part: str, rows: np.ndarray | None = None) -> Tensor:
        raise NotImplementedError("a step evaluates nothing")

    def per_network(self) -> Sequence[Sequence[Tensor]]:
        pairs = zip(self.model.encoders.per_network(), self.model.heads, strict=True)
        return [[*encoder, *head.parameters()] for encoder, head in pairs]

    def encoder_parameters(self) -> list[nn.Parameter]:
        return list(self.model.encoders.parameters())

    def stacked_parameters(self) -> list[nn.Parameter]:
        return self.model.encoders.stacked_parameters()


def full_learner(args: argparse.Namespace, seed: int, unlabeled: int, device: torch.device) -> RandomTexts:
    """Stacked random BERTs."""
    width, layers, heads, inner = SHAPES[args.shape]
    config = BertConfig(
        vocab_size=VOCABULARY if args.shape != "tiny" else 100,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
    )
    torch.manual_seed(seed)
    encoders = StackedEncoders.of([Encoder(BertModel(config), [1.0], "mean") for _ in range(args.networks)])
    networks = Networks(encoders, Heads(HeadShape(width, CLASSES), args.networks, seed))
    return RandomTexts(networks, (args.labeled, unlabeled), args.length, device, args.bf16)


if __name__ == "__main__":
    main()
