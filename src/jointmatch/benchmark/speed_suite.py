"""How fast training is: ours beside the plain way, and how its cost grows; measured here, kept by machine."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import product
from typing import Any

from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.formats import Section
from jointmatch.benchmark.store import Record, Store
from jointmatch.benchmark.suite import Options, Suite
from jointmatch.benchmark.table import NOT_RUN

AXES = ("networks", "seeds", "mu", "length", "pool")


class Speed(Suite):
    """``options`` has what all loads share (``usual``), ``ways`` to compare per shape, and ``grow``: axis -> values."""

    def run(self, experiment: Experiment, options: Options) -> None:
        import torch

        from jointmatch.benchmark.outcome import versions
        from jointmatch.benchmark.speed import matmul_peak, measure
        from jointmatch.networks import find_device

        device, store, start = find_device("auto"), Store(options.results), time.monotonic()
        machine = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
        facts = {"device": machine, "versions": versions(), "peak_tflops": round(matmul_peak(device), 2)}
        for load in self._loads(experiment):
            path = _path(machine, load.name)
            if store.read(path) is not None or time.monotonic() - start > options.seconds:
                continue
            if options.only and load.way not in options.only:
                continue
            steps = experiment.options["steps"].get(load.way, experiment.options["steps"]["other"])
            found = measure(load, device, steps)
            store.write(path, {"name": load.name, "load": asdict(load), **found, **facts})
            options.say(f"{load.name:44} {found['ms_per_step']:9.2f} ms a step  {found['tflops']:8.2f} TFLOP/s")

    def progress(self, experiment: Experiment, store: Store, backbone: str) -> tuple[int, int]:
        loads = self._loads(experiment)
        best = max(
            (sum(r is not None for r in self._records(experiment, store, m)) for m in _machines(store)), default=0
        )
        return best, len(loads)

    def tables(self, experiment: Experiment, store: Store, backbone: str, part: str | None = None) -> list[Section]:
        found = []
        for machine in _machines(store) or [""]:
            records = {r["name"]: r for r in self._records(experiment, store, machine) if r is not None}
            device = next(iter(records.values()))["device"] if records else "not run"
            if part in (None, "ways"):
                found.append(self._ways(experiment, records, device))
            if part in (None, "growth"):
                found += [t for shape in experiment.options["shapes"] for t in self._growth(experiment, records, shape)]
        return found

    def _loads(self, experiment: Experiment) -> list[Any]:
        """Every load once, the comparison first."""
        from jointmatch.benchmark.speed import Load

        o = experiment.options
        usual = Load(**o["usual"])
        loads = [replace(usual, shape=shape, way=way) for shape, way in product(o["shapes"], o["ways"])]
        own = [replace(usual, shape=s, way=o["ours"]) for s in o["shapes"]]
        loads += [replace(load, **other) for load in own for other in o["beside"]]
        loads += [replace(load, **{axis: value}) for load in own for axis in AXES for value in o["grow"].get(axis, [])]
        return list(dict.fromkeys(loads))

    def _records(self, experiment: Experiment, store: Store, machine: str) -> list[Record | None]:
        return [
            store.read(f"speed/{machine}/{load.name}.json") if machine else None for load in self._loads(experiment)
        ]

    def _ways(self, experiment: Experiment, records: dict[str, Record], device: str) -> Section:
        from jointmatch.benchmark.speed import WAYS, Load

        o, usual, rows = experiment.options, Load(**experiment.options["usual"]), []
        for shape in o["shapes"]:
            loads = [replace(usual, shape=shape, way=way) for way in o["ways"]]
            loads += [replace(usual, shape=shape, way=o["ours"], **other) for other in o["beside"]]
            bases = [records.get(replace(usual, shape=shape, way=way).name) for way in ("published", "apart")]
            for load in loads:
                odd = ", ".join(f"{k} {v}" for k, v in _odd(load, usual).items())
                title = f"{shape}: {WAYS[load.way].title}" + (f" ({odd})" if odd else "")
                rows.append([title, *_cells(records.get(load.name), bases)])
        columns = [
            "",
            "ms per step and seed",
            "times published",
            "times apart",
            "texts/s",
            "TFLOP/s",
            "of the peak",
            "memory",
        ]
        peak = next((r["peak_tflops"] for r in records.values()), None)
        note = f"Measured on {device}; its largest bf16 product reaches {peak:.0f} TFLOP/s." if peak else "Not run."
        size = f"{usual.batch} labelled and {usual.mu * usual.batch} unlabelled texts of {usual.length} tokens a step."
        return Section(f"One outer step, {device}", columns, rows, [note, size])

    def _growth(self, experiment: Experiment, records: dict[str, Record], shape: str) -> list[Section]:
        from jointmatch.benchmark.speed import Load

        o = experiment.options
        usual = replace(Load(**o["usual"]), shape=shape, way=o["ours"])
        found = []
        for axis, values in o["grow"].items():
            cells = [records.get(replace(usual, **{axis: value}).name) for value in values]
            shown = [NOT_RUN if r is None else f"{r['ms_per_step']:.1f}" for r in cells]
            found.append(Section(f"{shape}, by {axis}", [axis, *map(str, values)], [["ms per step", *shown]]))
        return found


def _cells(record: Record | None, bases: Sequence[Record | None]) -> list[str]:
    if record is None:
        return [NOT_RUN, *[""] * 6]
    own = record["ms_per_step_and_seed"]
    times = [f"{base['ms_per_step_and_seed'] / own:.1f}" if base else "" for base in bases]
    share = f"{100 * record['tflops'] / record['peak_tflops']:.0f} %"
    memory = f"{record['peak_memory_gib']:.1f} GiB" if record["peak_memory_gib"] is not None else ""
    return [f"{own:.2f}", *times, f"{record['texts_per_second']:,.0f}", f"{record['tflops']:.1f}", share, memory]


def _odd(load: Any, usual: Any) -> dict[str, Any]:
    own = asdict(load)
    return {k: v for k, v in own.items() if k not in ("shape", "way") and v != getattr(usual, k)}


def _path(machine: str, name: str) -> str:
    return f"speed/{re.sub(r'[^A-Za-z0-9]+', '-', machine).strip('-').lower()}/{name}.json"


def _machines(store: Store) -> list[str]:
    folder = store.folder / "cells" / "speed"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
