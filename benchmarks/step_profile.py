"""Where a training step's time goes: the device's kernels by time, and how long the device waits between them.

    python -m benchmarks.step_profile --shape minilm --way compiled --shortest 16

The same random networks and tokens as ``jointmatch benchmark run speed`` times. On a CPU it lists operations.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from jointmatch.benchmark.speed import SHAPES, WAYS, Load, loop_of, wait
from jointmatch.listener import Listener
from jointmatch.networks import find_device
from jointmatch.training import side_by_side

WARM = 12  # steps before, in which passes are recorded and compiled


class Window(Listener):
    """Has the profiler watch the last steps."""

    def __init__(self, profiler: Any, device: torch.device) -> None:
        self.profiler, self.device, self.steps_done = profiler, device, 0

    def advance(self, amount: int = 1) -> None:
        self.steps_done += amount
        if amount and self.steps_done == WARM:
            wait(self.device)
            self.profiler.start()


def spans(profiler: Any, kind: str) -> list[tuple[str, float, float]]:
    """Name, start and length in microseconds of what ran on the device, or of the operations of a CPU."""
    found = []
    for event in profiler.profiler.kineto_results.events():
        on_device = "CUDA" in str(event.device_type())
        if on_device == (kind == "cuda") and event.duration_ns() > 0:
            found.append((event.name(), event.start_ns() / 1000, event.duration_ns() / 1000))
    return sorted(found, key=lambda span: span[1])


def idle(found: Sequence[tuple[str, float, float]]) -> float:
    """Microseconds in which nothing ran, between the first and the last."""
    waited, end = 0.0, found[0][1]
    for _, start, length in found:
        waited += max(start - end, 0)
        end = max(end, start + length)
    return waited


def told(found: Sequence[tuple[str, float, float]], steps: int, rows: int) -> list[str]:
    """Lines of a table."""
    time: defaultdict[str, float] = defaultdict(float)
    count: Counter[str] = Counter()
    for name, _, length in found:
        time[name] += length
        count[name] += 1
    whole = found[-1][1] + found[-1][2] - found[0][1]
    lines = [f"{whole / steps / 1000:.2f} ms a step, in {idle(found) / steps / 1000:.2f} of which nothing runs"]
    lines += ["   us a step   times  what"]
    for name, spent in sorted(time.items(), key=lambda pair: -pair[1])[:rows]:
        lines.append(f"{spent / steps:12.1f} {count[name] / steps:7.1f}  {name[:110]}")
    return lines


def main(arguments: Sequence[str] | None = None) -> list[str]:
    """Train some steps under the profiler and print what took time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="minilm")
    parser.add_argument("--way", choices=WAYS, default="compiled")
    for size in ("seeds", "networks", "batch", "mu", "length", "shortest"):
        parser.add_argument(f"--{size}", type=int, default=getattr(Load(), size))
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rows", type=int, default=40)
    args = parser.parse_args(arguments)
    device, own = find_device("auto"), vars(args).copy()
    steps, rows = own.pop("steps"), own.pop("rows")
    load = Load(**own)
    kind = ProfilerActivity.CUDA if device.type == "cuda" else ProfilerActivity.CPU
    profiler = profile(activities=[kind])
    listeners = [Window(profiler, device), *(Listener() for _ in range(load.seeds - 1))]
    loops = [loop_of(load, seed, device, listener, WARM + steps) for seed, listener in enumerate(listeners)]
    if load.seeds == 1:
        loops[0].run()
    else:
        side_by_side(loops)
    wait(device)
    profiler.stop()
    lines = [load.name, *told(spans(profiler, device.type), steps, rows)]
    print("\n".join(lines))
    return lines


if __name__ == "__main__":
    main()
