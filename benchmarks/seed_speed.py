"""Milliseconds per seed and step of JointMatch: seeds one after another, and side by side.

    python benchmarks/seed_speed.py --mode lite --unlabeled 80 256 1024
    python benchmarks/seed_speed.py --mode full --shape bert-base

Mode lite trains heads over random features in the numbers of AG News; mode full whole random networks over random
tokens, stacked in either way and in bf16. Both ways take turns, and the median of the turns is kept. On a CPU the
processor's own time is counted, which other programs do not lengthen.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from jointmatch.algorithms import build
from jointmatch.benchmark.machines import machine
from jointmatch.benchmark.speed import CLASSES, SHAPES, Load, loop_of, wait
from jointmatch.config import TrainingConfig
from jointmatch.files import write_json
from jointmatch.listener import Listener
from jointmatch.networks import Heads, HeadShape, find_device
from jointmatch.training import FeatureSet, LiteLearner, Loop, Updater, side_by_side
from jointmatch.training.loop import Progress
from jointmatch.types import Task

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
    make = lite_loop if args.mode == "lite" else full_loop
    ways: dict[str, Callable[[list[Loop]], Any]] = {
        "one after another": lambda loops: [loop.run() for loop in loops],
        "side by side": side_by_side,
    }
    runs = {way: [make(args, seed, unlabeled, device) for seed in range(args.seeds)] for way in ways}
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


def lite_loop(args: argparse.Namespace, seed: int, unlabeled: int, device: torch.device) -> Loop:
    """JointMatch's heads over random features, for as many steps as a turn has."""
    source = torch.Generator().manual_seed(seed)
    weak, given = (torch.randn(args.networks, rows, WIDTH, generator=source).to(device) for rows in (POOL, LABELED))
    labels = torch.arange(LABELED, device=device) % CLASSES
    heads = Heads(HeadShape(WIDTH, CLASSES, dropout=0.5, scale=10.0), args.networks, seed).to(device)
    learner = LiteLearner(FeatureSet(given, labels, weak, [weak], {"pool": weak}), heads)
    training = TrainingConfig(
        steps=args.steps,
        evaluate_every=10**9,
        batch_size=args.labeled,
        unlabeled_batch_size=unlabeled,
        label_dropout=False,
    )
    rule = build("jointmatch", Task(CLASSES, args.networks, learner.pool_size), {}).to(device)
    truth = torch.full((learner.pool_size,), -1)
    return Loop(Updater(learner, rule, training, truth, Listener()), Listener())


def full_loop(args: argparse.Namespace, seed: int, unlabeled: int, device: torch.device) -> Loop:
    """Whole random networks, stacked, over random tokens."""
    mu = max(unlabeled // args.labeled, 1)
    load = Load(args.shape, networks=args.networks, batch=args.labeled, mu=mu, length=args.length, pool=1000)
    return loop_of(load, seed, device, Listener(), args.steps)


if __name__ == "__main__":
    main()
