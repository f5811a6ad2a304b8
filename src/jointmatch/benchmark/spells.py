"""How long an experiment took: every spell that finished cells leaves a record of how many, where and how fast."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from jointmatch.benchmark.formats import Section
from jointmatch.benchmark.machines import current_machine
from jointmatch.benchmark.store import Record, Store
from jointmatch.benchmark.suite import Options


def keep_spell(store: Store, name: str, cells: Mapping[str, int], seconds: float, options: Options) -> None:
    """Keep a record of one spell of an experiment: cells by data set, and seconds from start to end."""
    ended = datetime.now(UTC)
    record = {
        "experiment": name,
        "cells": dict(cells),
        "seconds": round(seconds, 1),
        "jobs": options.jobs,
        "together": options.together,
        "device": current_machine(),
        "finished": ended.isoformat(timespec="seconds"),
    }
    store.write_spell(name, f"{ended:%Y%m%dT%H%M%S%f}", record)


def spell_table(store: Store, name: str) -> Section:
    """All spells of an experiment for each machine and combination of data sets; time is added up, but none twice."""
    found: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in store.spells(name):
        found[record["device"], ", ".join(record["cells"])].append(record)
    rows = [
        [
            device,
            data,
            str(sum(sum(r["cells"].values()) for r in records)),
            f"{_seconds(records) / 60:.1f}",
            str(len(records)),
        ]
        for (device, data), records in sorted(found.items())
    ]
    note = (
        "Commands that came to their end, from start to end: compiling, features and evaluation are in it. Time in "
        "which several of a row ran side by side counts once."
    )
    return Section("", ["machine", "data", "cells", "minutes", "commands"], rows, [note] if rows else ["Not measured."])


def _seconds(records: Sequence[Record]) -> float:
    """Seconds in which at least one of the spells was under way."""
    total, until = 0.0, 0.0
    for record in sorted(records, key=_began):
        ended = _ended(record)
        total += max(0.0, ended - max(_began(record), until))
        until = max(until, ended)
    return total


def _ended(record: Record) -> float:
    return datetime.fromisoformat(record["finished"]).timestamp()


def _began(record: Record) -> float:
    return _ended(record) - float(record["seconds"])
