"""What a store holds for an experiment: values by row, data set, labels and seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jointmatch.benchmark.cell import all_cells, cells_of
from jointmatch.benchmark.experiment import METRICS, Experiment
from jointmatch.benchmark.outcome import embedded_name
from jointmatch.benchmark.statistics import Difference, paired
from jointmatch.benchmark.store import Record, Store

LAST = "scores_of_last_step"
CHOSEN = "scores"


@dataclass(frozen=True)
class Entry:
    """One row on one data set at one label count."""

    row: str
    title: str
    data: str
    labels: int
    wanted: int  # number of seeds
    records: list[Record]
    paper: dict[str, list[float]] = field(default_factory=dict)
    reference: bool = False
    earlier: bool = False  # run before cells had names, under the recipe of that time

    def values(self, metric: str = "accuracy", part: str = "test", of: str = CHOSEN) -> dict[int, float]:
        """Seed -> fraction."""
        found = {r["seed"]: self._scores(r, of).get(part, {}).get(metric) for r in self.records}
        return {seed: value for seed, value in found.items() if value is not None}

    def _scores(self, record: Record, of: str) -> Mapping[str, Any]:
        """A record's scores. A reference has nothing to choose from: its one score stands under both headings.

        A word reader is taught by the kept networks, so with it there is no score of the last step: the recorded one is
        the networks' alone.
        """
        if self.reference:
            found: Mapping[str, Any] = record["baselines"][self.row]
            return found
        return {} if of == LAST and _reads_words(record) else record[of]

    def pseudo_labels(self, what: str) -> dict[int, float]:
        """Seed -> fraction: the ``share`` of unlabelled texts with a pseudo-label at the end, or their ``accuracy``.

        If the method gives any, a seed without them has a share of 0 and no accuracy.
        """
        found = {r["seed"]: r.get("pseudo_labels", {}).get(what) for r in self.records}
        if what == "share" and any(value is not None for value in found.values()):
            found = {seed: value or 0.0 for seed, value in found.items()}
        return {seed: value for seed, value in found.items() if value is not None}


def _reads_words(record: Record) -> bool:
    """Whether a run had a word reader; earlier runs have neither settings nor a reader."""
    return bool(record.get("settings", {}).get("network", {}).get("word_reader"))


class Results:
    """The entries of an experiment, and how they compare.

    Args:
        experiment: The experiment to report on.
        store: Where its records are kept.
        backbone: The backbone whose cells are shown.
    """

    def __init__(self, experiment: Experiment, store: Store, backbone: str = "auto") -> None:
        self.experiment, self.store, self.backbone = experiment, store, backbone
        self.entries = {(e.row, e.data, e.labels): e for e in self._entries()}

    def _entries(self) -> Iterator[Entry]:
        for data, counts in self.experiment.data.items():
            for labels in counts:
                for row in [*self.experiment.variants, *self.experiment.references]:
                    yield self._entry(row, data, labels)

    def _entry(self, row: str, data: str, labels: int) -> Entry:
        variant = self.experiment.variants.get(row)
        cells = cells_of(self.experiment, row, data, labels, self.backbone)
        records = [record for cell in cells if (record := self.store.find(cell)) is not None]
        earlier = [] if records else self._earlier(row, data, labels)
        return Entry(
            row,
            variant.title if variant else row.replace("_", " "),
            data,
            labels,
            len(cells),
            records or earlier,
            variant.paper.get(data, {}).get(labels, {}) if variant else {},
            variant is None,
            bool(earlier),
        )

    def _earlier(self, row: str, data: str, labels: int) -> list[Record]:
        """Runs from before cells had names, if the settings requested then are those requested now."""
        variant = row in self.experiment.variants
        name = self.experiment.name
        found = self.store.earlier(name, row if variant else "references", data, labels)
        if not variant:
            return [r for r in found if row in r["baselines"]]
        asked = asked_of(self.experiment, row, data)
        return [r for r in found if r.get("asked") == asked and r["imbalance"] == self.experiment.imbalance]

    def rows(self, data: str, labels: int) -> list[Entry]:
        """The entries of one data set and label count, best first if the experiment is sorted."""
        found = [e for e in self.entries.values() if (e.data, e.labels) == (data, labels)]
        return sorted(found, key=lambda e: -mean(e.values(part=self.part))) if self.experiment.sort else found

    @property
    def part(self) -> str:
        """The part that is reported on: a search sees only dev."""
        return "test" if self.experiment.test else "dev"

    def difference(self, entry: Entry, metric: str = "accuracy") -> Difference | None:
        """Difference between the row that others are compared with and this one: above 0 where that row leads."""
        name = self.experiment.against
        if name is None or name == entry.row:
            return None
        against = self.entries[name, entry.data, entry.labels]
        return paired(against.values(metric, self.part), entry.values(metric, self.part))

    def paper_difference(self, entry: Entry) -> float | None:
        """The same difference in the paper's own numbers, as a fraction."""
        name = self.experiment.against
        against = self.entries[name, entry.data, entry.labels].paper if name else {}
        if "accuracy" not in entry.paper or "accuracy" not in against or entry.row == name:
            return None
        return (against["accuracy"][0] - entry.paper["accuracy"][0]) / 100


def asked_of(experiment: Experiment, row: str, data: str) -> dict[str, Any]:
    """The requested settings, by which a run from before cells had names is matched to a row.

    A word reader that is switched off is left out: there was none then.
    """
    asked = {key: dict(own) for key, own in experiment.settings_of(row, data).items() if key != "output"}
    if asked.get("network", {}).get("word_reader") is False:
        del asked["network"]["word_reader"]
    return {key: own for key, own in asked.items() if own}


def backbones(records: Iterable[Record]) -> list[str]:
    """The backbones that the numbers come from."""
    found = [r["backbone"] for r in records if "backbone" in r]
    # On a machine without its package, a copy of the embedded backbone was named after its folder.
    return sorted({embedded_name(b["fingerprint"]) or b["name"] for b in found})


def devices(records: Iterable[Record]) -> list[str]:
    """The devices that the numbers were made on."""
    return sorted({(r.get("hardware") or r["machine"])["device"] for r in records})


def done_and_wanted(experiment: Experiment, store: Store, backbone: str = "auto") -> tuple[int, int]:
    """Number of finished cells, and of all cells."""
    cells = [cell for row in all_cells(experiment, backbone) for cell in row]
    return sum(store.find(cell) is not None for cell in cells), len(cells)


def mean(values: Mapping[int, float]) -> float:
    """Mean that is never NaN: no values count as minus infinity."""
    return float(np.mean(list(values.values()))) if values else float("-inf")


def spread(values: Mapping[int, float] | Sequence[float]) -> str:
    """Mean ± population standard deviation in percent, as in the paper; a single value, which has none, by itself."""
    numbers = list(values.values()) if isinstance(values, Mapping) else list(values)
    beside = f" ± {100 * np.std(numbers):.2f}" if len(numbers) > 1 else ""
    return f"{100 * np.mean(numbers):.2f}{beside}"


__all__ = ["CHOSEN", "LAST", "METRICS", "Entry", "Results", "done_and_wanted", "mean", "spread"]
