"""Suites run an experiment and show it: a grid of runs, or something else that is measured.

A suite of its own is a class with these methods and a line in ``suites.py``; an experiment file selects it with
``suite = "..."`` and sets its options in ``[options]``, which it checks when the file is read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jointmatch.benchmark.drawing import Picture, Shown
from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.formats import Section, csv_lines
from jointmatch.benchmark.store import Store
from jointmatch.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Options:
    """The command line's options for a run."""

    results: Path
    backbone: str = "auto"
    data_dir: str | None = None
    only: list[str] = field(default_factory=list)
    jobs: int = 1
    together: int | None = None  # seeds side by side in one process; None: all seeds of a row on a GPU
    seconds: float = float("inf")
    compiled: bool | None = None  # the layers, on a GPU; None: where that is likely to pay off
    say: Callable[[str], None] = print

    def __post_init__(self) -> None:
        if math.isnan(self.seconds):  # no time is later than nan
            raise InputError("--seconds is nan, wanted a number.")


class Suite(ABC):
    """Runs one kind of experiment."""

    pictures: Mapping[str, Picture] = MappingProxyType({})
    """Those it can draw, by the names that experiments and pages give them."""

    def faults(self, options: Mapping[str, Any], variants: Sequence[str]) -> list[str]:
        """Faults, in words, in the ``options`` of a file with these variants."""
        return []

    @abstractmethod
    def run(self, experiment: Experiment, options: Options) -> None:
        """Compute what is missing in ``options.results``."""

    @abstractmethod
    def progress(self, experiment: Experiment, store: Store, backbone: str) -> tuple[int, int]:
        """How much is done, out of how much."""

    @abstractmethod
    def tables(self, experiment: Experiment, store: Store, backbone: str, part: str | None = None) -> list[Section]:
        """Tables of what there is and what is not run; ``part`` names a data set, or another part to show alone."""

    def shown(self, experiment: Experiment, store: Store, backbone: str, kind: str) -> Shown:
        """The numbers of one of its pictures; empty if nothing has been run."""
        return []

    def csv(self, experiment: Experiment, store: Store, backbone: str) -> str:
        """Every number on a line of its own: its table, row and column, and the number as the table shows it."""
        lines = [["table", "row", "column", "value"]]
        for table in self.tables(experiment, store, backbone):
            for row, *values in table.rows:
                lines += [[table.title, row, *pair] for pair in zip(table.columns[1:], values, strict=True)]
        return csv_lines(lines)


def asked_compiling(options: Options) -> dict[str, bool]:
    """Which of the two options on compiling is asked for."""
    return {"--compiled": options.compiled is True, "--not-compiled": options.compiled is False}


def refuse(asked: Mapping[str, bool], why: str) -> None:
    """Raise if command-line options that would do nothing are ``asked`` for; ``why`` says what is done instead."""
    refused = [name for name, is_asked in asked.items() if is_asked]
    if refused:
        raise InputError(f"{why}: no {', '.join(refused)}.")


def is_number(value: object) -> bool:
    """Whether a file's value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def set_faults(where: str, names: Iterable[str]) -> list[str]:
    """Faults for names of data sets that would lead out of the folders of data and of cells."""
    wrong = [name for name in names if name in ("", ".", "..") or {"/", "\\"} & set(name)]
    return [f"{where} has {name!r}, wanted a data set's name: that of one folder, without / or \\" for name in wrong]


def key_faults(suite: str, options: Mapping[str, Any], must: Sequence[str], may: Sequence[str] = ()) -> list[str]:
    """Faults for required keys that are missing, and for unknown ones."""
    known = [*must, *may]
    lacking = [f"options has no {key!r}, which the suite {suite} must be told" for key in must if key not in options]
    unknown = [key for key in options if key not in known]
    return lacking + [f"options has {key!r}.{did_you_mean(key, known)} Known: {', '.join(known)}." for key in unknown]


def why_absent(name: str, data_dir: str | None, parts: Sequence[str] = ("pool", "dev", "test")) -> str | None:
    """Why a data set, or a part of it that is needed, cannot be read; None if nothing is wrong."""
    from jointmatch.data.datasets import BENCHMARKS, data_folder, part_file, read_benchmark, why_no_folder

    if name == "demo":
        return None
    if why := why_no_folder(data_dir):
        return why
    folder = data_folder(data_dir)
    if folder is not None and part_file(folder, name, "pool") is not None:
        lacking = [part for part in parts if part_file(folder, name, part) is None]
        if lacking:
            return f"{folder / name} has no {' and no '.join(lacking)} file; {', '.join(parts)} are needed."
    elif name in BENCHMARKS and BENCHMARKS[name].hub and not _hub_answers():
        return (
            f"{name} is in no local folder, and the hub does not answer. Point --data-dir or JOINTMATCH_DATA at a "
            "folder with its pool, dev and test files; what the hub's client has kept is read under HF_HUB_OFFLINE=1."
        )
    try:
        read_benchmark(name, data_dir)
    except InputError as error:
        return str(error)
    return None


@cache
def _hub_answers() -> bool:
    """Whether the hub answers; asked once, as its own client tries for half a minute for each data set."""
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE
    from huggingface_hub.utils import get_session

    if HF_HUB_OFFLINE:
        return True  # its client then looks only in its cache, and answers at once
    try:
        get_session().head(ENDPOINT, timeout=5)
    except Exception:  # of any kind
        return False
    return True
