"""A training step of whole networks on a CPU: encoders apart and in one stack, in fp32 and bf16, in one run.

    python -m benchmarks.cpu_steps

Random weights of MiniLM's shape, random tokens: what ``jointmatch benchmark run speed`` times on a GPU. Ratios are
meant to be compared; seconds depend on the machine, and bf16 on whether its processor has instructions for it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import torch

from jointmatch.benchmark.machines import machine
from jointmatch.benchmark.speed import Load, measure
from jointmatch.files import write_json

RESULT = Path(__file__).parent / "results" / "cpu_steps.json"
CPU = torch.device("cpu")
BASE = "apart_fp32"
TIMED = {
    "apart_fp32": "networks apart, fp32",
    "stacked_fp32": "one stack, fp32",
    "apart": "networks apart, bf16",
    "stacked": "one stack, bf16",
}


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="minilm")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--output", type=Path, default=RESULT)
    args = parser.parse_args(arguments)
    loads = {"texts of 64 tokens": {}, "texts of 16 to 64 tokens": {"shortest": 16}}
    found = {title: timed(args.shape, args.steps, **more) for title, more in loads.items()}
    facts = {"threads": torch.get_num_threads(), "load_average": os.getloadavg()}
    write_json(args.output, {"shape": args.shape, "loads": found, "machine": {**machine(CPU), **facts}})
    for title, rows in found.items():
        for way, row in rows.items():
            print(f"{title:26} {way:22} {row['seconds_per_step']:7.2f} s a step   {row['times_as_fast']:.2f} x")


def timed(shape: str, steps: int, **more: Any) -> dict[str, dict[str, float]]:
    """Seconds per step by each way, and how many times as fast that is as encoders apart in fp32."""
    seconds = {way: measure(Load(shape, way, **more), CPU, steps)["ms_per_step"] / 1000 for way in TIMED}
    return {TIMED[way]: {"seconds_per_step": own, "times_as_fast": seconds[BASE] / own} for way, own in seconds.items()}


if __name__ == "__main__":
    main()
