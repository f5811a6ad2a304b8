"""Training speed: ours beside the plain way, and how its cost grows; measured here, kept by machine."""

from __future__ import annotations

import fnmatch
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from itertools import product
from types import MappingProxyType
from typing import Any

from jointmatch.benchmark.drawing import Picture, Shown
from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.formats import Section
from jointmatch.benchmark.machines import current_machine, machines, slug
from jointmatch.benchmark.speed_figures import draw_growth, draw_ways
from jointmatch.benchmark.speed_options import AXES, OTHER, speed_faults
from jointmatch.benchmark.store import Record, Store
from jointmatch.benchmark.suite import Options, Suite, asked_compiling, refuse
from jointmatch.benchmark.table import NOT_RUN
from jointmatch.benchmark.work import give_memory_back
from jointmatch.errors import UnknownNameError

STEPS = 60  # timed steps, unless an experiment sets them


class Speed(Suite):
    """Measure how long a step takes.

    ``options`` has what all loads share (``usual``), the ``ways`` that each shape is trained in with each load of
    ``compared``, the loads of ``ours`` shown ``beside`` them, and ``grow``: axis -> values.
    """

    pictures = MappingProxyType(
        {
            "ways": Picture("Milliseconds of an outer step by each way", draw_ways),
            "growth": Picture("How the cost of a step grows", draw_growth),
        }
    )

    def faults(self, options: Mapping[str, Any], variants: Sequence[str]) -> list[str]:
        return speed_faults(options)

    def run(self, experiment: Experiment, options: Options) -> None:
        from jointmatch.benchmark.outcome import versions
        from jointmatch.benchmark.speed import matmul_peak, measure
        from jointmatch.networks import find_device

        device, store, start = find_device("auto"), Store(options.results), time.monotonic()
        machine = current_machine()
        _refuse_what_does_nothing(experiment, options)
        ways = _chosen(experiment, options.only)
        wanted = [load for load in self._loads(experiment) if load.way in ways]
        todo = [load for load in wanted if store.read(_path(machine, load.name)) is None]
        if todo:
            store.check_writable()
        compile_ahead(todo, options.jobs, options.say)
        facts = {"device": machine, "versions": versions(), "peak_tflops": round(matmul_peak(device), 2)}
        for number, load in enumerate(todo):
            if time.monotonic() - start > options.seconds:
                options.say(f"The time is up: {len(todo) - number} of {len(wanted)} loads are left.")
                break
            steps = experiment.options["steps"].get(load.way, experiment.options["steps"].get(OTHER, STEPS))
            give_memory_back()
            found = measure(load, device, steps)
            store.write(_path(machine, load.name), {"name": load.name, "load": asdict(load), **found, **facts})
            options.say(f"{load.name:44} {found['ms_per_step']:9.2f} ms a step  {found['tflops']:8.2f} TFLOP/s")
            for note in found["notes"]:
                options.say(f"  {note}")

    def progress(self, experiment: Experiment, store: Store, backbone: str) -> tuple[int, int]:
        wanted, found = self._loads(experiment), self._fullest(experiment, store)
        return sum(load.name in found for load in wanted), len(wanted)

    def tables(self, experiment: Experiment, store: Store, backbone: str, part: str | None = None) -> list[Section]:
        found = []
        for machine in machines(store, "speed") or [""]:
            records = self._records(experiment, store, machine)
            device = next(iter(records.values()))["device"] if records else "not run"
            if part in (None, "ways"):
                found.append(self._ways(experiment, records, device))
            if part in (None, "growth"):
                found += [t for shape in experiment.options["shapes"] for t in self._growth(experiment, records, shape)]
        return found

    def shown(self, experiment: Experiment, store: Store, backbone: str, kind: str) -> Shown:
        """Numbers of the machine with the most measurements."""
        records = self._fullest(experiment, store)
        device = next(iter(records.values()))["device"] if records else ""
        shapes = experiment.options["shapes"]
        if kind == "ways":
            groups = [
                {"shape": shape, "device": device, "bars": self._bars(experiment, records, shape)} for shape in shapes
            ]
            return [group for group in groups if group["bars"]]
        panels = []
        for axis in experiment.options["grow"]:
            lines = {
                f"{shape}: {title}": [[value, record["ms_per_step"]] for value, record in found if record is not None]
                for shape in shapes
                for title, found in self._grown(experiment, records, shape, axis)
            }
            lines = {name: points for name, points in lines.items() if len(points) > 1}
            panels += [{"axis": axis, "device": device, "lines": lines}] if lines else []
        return panels

    def _bars(self, experiment: Experiment, records: dict[str, Record], shape: str) -> list[list[Any]]:
        """Title, milliseconds and speed-up over the published way, of every way and of what is shown beside them."""
        bars = []
        for title, load in self._compared(experiment, shape):
            if (record := records.get(load.name)) is not None:
                base, own = self._bases(records, load)[0], record["ms_per_step_and_seed"]
                bars.append([title, own, round(base["ms_per_step_and_seed"] / own, 1) if base else None])
        return bars

    def _bases(self, records: dict[str, Record], load: Any) -> list[Record | None]:
        """Records of one seed of the same work by the two plain ways: a load is only compared with the same load."""
        return [records.get(replace(load, way=way, seeds=1).name) for way in ("published", "apart")]

    def _loads(self, experiment: Experiment) -> list[Any]:
        """Every load once, the comparison first."""
        from jointmatch.benchmark.speed import Load

        o = experiment.options
        usual = Load.of(o["usual"])
        loads = [load for shape in o["shapes"] for _, load in self._compared(experiment, shape)]
        own = [replace(usual, shape=s, way=o["ours"]) for s in o["shapes"]]
        loads += [replace(load, **{axis: value}) for load in own for axis in AXES for value in o["grow"].get(axis, [])]
        return list(dict.fromkeys(loads))

    def _records(self, experiment: Experiment, store: Store, machine: str) -> dict[str, Record]:
        """The records of a machine by load name, including how ways other than ours grow, if that was measured."""
        ways, grow = experiment.options["ways"], experiment.options["grow"]
        grown = [
            load
            for shape, way, axis in product(experiment.options["shapes"], ways, grow)
            for _, load in self._growing(experiment, shape, way, axis)
        ]
        names = [load.name for load in dict.fromkeys([*self._loads(experiment), *grown])] if machine else []
        found = {name: store.read(f"speed/{machine}/{name}.json") for name in names}
        return {name: record for name, record in found.items() if record is not None}

    def _fullest(self, experiment: Experiment, store: Store) -> dict[str, Record]:
        """The records of the machine that has the most."""
        return max((self._records(experiment, store, m) for m in machines(store, "speed")), key=len, default={})

    def _compared(self, experiment: Experiment, shape: str) -> list[tuple[str, Any]]:
        """Every way, and what is shown beside ours, each with a title."""
        from jointmatch.benchmark.speed import WAYS, Load

        o, usual = experiment.options, Load.of(experiment.options["usual"])
        said = [{"way": way, **other} for other, way in product(o["compared"], o["ways"])]
        said += [{"way": o["ours"], **other} for other in o["beside"]]
        loads = [Load.of({**o["usual"], "shape": shape, **own}) for own in said]
        odd = [", ".join(_said(k, v) for k, v in _odd(load, usual).items()) for load in loads]
        return [(WAYS[load.way].title + (f" ({o})" if o else ""), load) for load, o in zip(loads, odd, strict=True)]

    def _growing(self, experiment: Experiment, shape: str, way: str, axis: str) -> list[tuple[Any, Any]]:
        """The values of an axis, each with its load."""
        from jointmatch.benchmark.speed import Load

        usual = replace(Load.of(experiment.options["usual"]), shape=shape, way=way)
        return [(value, replace(usual, **{axis: value})) for value in experiment.options["grow"][axis]]

    def _grown(
        self, experiment: Experiment, records: dict[str, Record], shape: str, axis: str
    ) -> list[tuple[str, list[tuple[Any, Record | None]]]]:
        """Title, and the record at each value: for ours, and for other ways with more than one record."""
        from jointmatch.benchmark.speed import WAYS

        found = []
        for way in experiment.options["ways"]:
            row = [(v, records.get(load.name)) for v, load in self._growing(experiment, shape, way, axis)]
            if way == experiment.options["ours"] or sum(record is not None for _, record in row) > 1:
                found.append((WAYS[way].title, row))
        return found

    def _ways(self, experiment: Experiment, records: dict[str, Record], device: str) -> Section:
        from jointmatch.benchmark.speed import Load

        usual, rows, fell_back = Load.of(experiment.options["usual"]), [], []
        for shape in experiment.options["shapes"]:
            for title, load in self._compared(experiment, shape):
                record = records.get(load.name)
                rows.append([f"{shape}: {title}", *_cells(record, self._bases(records, load))])
                fell_back += [f"{shape}, {title}: {note}" for note in (record or {}).get("notes", [])]
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
        peaks = sorted({_short(r["peak_tflops"]) for r in records.values()}, key=float)
        reach = " to ".join(peaks[:1] + peaks[1:][-1:])
        note = f"Measured on {device}; its largest bf16 product reaches {reach} TFLOP/s." if peaks else "Not run."
        size = f"{usual.batch} labelled and {usual.mu * usual.batch} unlabelled texts of {usual.length} tokens a step."
        return Section(f"One outer step, {device}", columns, rows, [note, size, *fell_back])

    def _growth(self, experiment: Experiment, records: dict[str, Record], shape: str) -> list[Section]:
        found = []
        for axis, values in experiment.options["grow"].items():
            rows = [
                [title, *(NOT_RUN if record is None else f"{record['ms_per_step']:.1f}" for _, record in row)]
                for title, row in self._grown(experiment, records, shape, axis)
            ]
            found.append(Section(f"{shape}, ms per step by {axis}", [axis, *map(str, values)], rows))
        return found


def _refuse_what_does_nothing(experiment: Experiment, options: Options) -> None:
    asked = {
        "--backbone": options.backbone != "auto",
        "--seeds": bool(experiment.seeds),
        "--together": options.together is not None,
        **asked_compiling(options),
    }
    shapes = ", ".join(experiment.options["shapes"])
    own = f"times random networks of its own shapes ({shapes}), and as many seeds at once as its file says"
    refuse(asked, f"{experiment.name} {own}")


def compile_ahead(loads: Sequence[Any], jobs: int, say: Callable[[str], None]) -> int:
    """Compile what will be measured into the compiler's cache, in ``jobs`` processes; return how many loads that takes.

    Half a minute per size is most of the time of a measurement, and none of what is measured. The processes share the
    GPU's memory: what does not fit beside the others is compiled when its turn to be measured comes.
    """
    from jointmatch.benchmark.speed import WAYS

    compiled = [load for load in loads if WAYS[load.way].compiled]
    once = list({_sizes(load): load for load in reversed(compiled)}.values())
    if jobs > 1 and once:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _one_thread) as pool:
            for load, fault in zip(once, pool.map(_compile, once), strict=True):
                if fault:
                    say(f"{load.name} is not compiled ahead: {fault}")
    return len(once)


def _sizes(load: Any) -> tuple[Any, ...]:
    """What compiled code depends on."""
    from jointmatch.benchmark.speed import WAYS

    fused = WAYS[load.way].fused
    return fused, load.shape, load.networks * load.seeds, load.batch, load.mu, load.length, load.shortest > 0


def _one_thread() -> None:
    """Limit compilation to one thread: the processes share the cores."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


def _compile(load: Any) -> str:
    """Compile a load; return the error that prevented it, or an empty string."""
    from jointmatch.benchmark.speed import measure
    from jointmatch.networks import find_device

    try:
        measure(load, find_device("auto"), steps=1, chunks=1)
    except Exception as fault:  # it comes again, and is reported, when the load is measured
        return str(fault)
    finally:
        give_memory_back()
    return ""


def _cells(record: Record | None, bases: Sequence[Record | None]) -> list[str]:
    if record is None:
        return [NOT_RUN, *[""] * 6]
    own = record["ms_per_step_and_seed"]
    times = [f"{base['ms_per_step_and_seed'] / own:.1f}" if base else "" for base in bases]
    share = f"{100 * record['tflops'] / record['peak_tflops']:.0f} %"
    memory = f"{record['peak_memory_gib']:.1f} GiB" if record["peak_memory_gib"] is not None else ""
    return [f"{own:.2f}", *times, f"{record['texts_per_second']:,.0f}", f"{record['tflops']:.1f}", share, memory]


def _chosen(experiment: Experiment, only: Sequence[str]) -> list[str]:
    """The ways requested by name or pattern; all if none are."""
    ways: list[str] = experiment.options["ways"]
    for pattern in only:
        if not fnmatch.filter(ways, pattern):
            raise UnknownNameError(f"{experiment.name} has no way {pattern!r}. Known: {', '.join(ways)}.")
    return [way for way in ways if not only or any(fnmatch.fnmatchcase(way, pattern) for pattern in only)]


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def _odd(load: Any, usual: Any) -> dict[str, Any]:
    own = asdict(load)
    return {k: v for k, v in own.items() if k not in ("shape", "way") and v != getattr(usual, k)}


def _said(key: str, value: Any) -> str:
    return f"texts of {value} tokens and more" if key == "shortest" else f"{key} {value}"


def _path(machine: str, name: str) -> str:
    return f"speed/{slug(machine)}/{name}.json"
