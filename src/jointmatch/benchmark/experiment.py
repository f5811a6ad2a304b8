"""An experiment: data, labels, seeds and variants, the rows of its table. ``reading`` describes its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from jointmatch.config import Settings, merge
from jointmatch.errors import UnknownNameError, did_you_mean

METRICS = ("accuracy", "macro_f1")
REFERENCES = ("supervised", "logistic_regression", "label_spreading")
"""What a run's baselines are called."""
COLUMNS = ("accuracy", "macro_f1", "last", "pseudo_labels", "paper", "lead", "seeds")
FIGURES = ("classes", "course", "pseudo_labels", "race")


@dataclass(frozen=True)
class Variant:
    """One row of the table."""

    name: str
    title: str
    settings: Settings
    on: dict[str, Settings] = field(default_factory=dict)
    paper: dict[str, dict[int, dict[str, list[float]]]] = field(default_factory=dict)
    """Data set -> labels -> metric -> mean and, where it is given, standard deviation, in percent."""


@dataclass(frozen=True)
class Experiment:
    """The contents of a file, with inherited parts filled in, and checked."""

    name: str
    title: str
    about: str
    data: dict[str, list[int]]
    seeds: list[int]
    variants: dict[str, Variant]
    settings: Settings
    on: dict[str, Settings]
    suite: str = "grid"
    test: bool = True
    imbalance: float | None = None
    against: str | None = None
    references: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    sort: bool = False
    columns: list[str] = field(default_factory=lambda: ["accuracy", "macro_f1", "paper", "lead", "seeds"])
    options: dict[str, Any] = field(default_factory=dict)

    def settings_of(self, variant: str, data: str) -> Settings:
        """The settings requested for a variant on one data set, before recipe and defaults."""
        own = self.variants[variant]
        return merge(self.settings, self.on.get(data, {}), own.settings, own.on.get(data, {}))

    def on_sets(self, names: Sequence[str]) -> Experiment:
        """The same experiment on some of its data sets; on all if none are named."""
        for wanted in names:
            if wanted not in self.data:
                known = f"Known: {', '.join(self.data)}." if self.data else "It has none at all: leave --dataset out."
                near = did_you_mean(wanted, self.data)
                raise UnknownNameError(f"{self.name} has no data set {wanted!r}.{near} {known}")
        return replace(self, data={d: n for d, n in self.data.items() if d in names}) if names else self

    def parts(self) -> list[Experiment]:
        """An experiment for each data set and number of labels; itself, if it has but one or is not made of them."""
        found = [replace(self, data={data: [labels]}) for data, counts in self.data.items() for labels in counts]
        return found if len(found) > 1 else [self]

    def named(self, patterns: Iterable[str]) -> list[str]:
        """The variants and references matching patterns such as ``jointmatch*``, in the experiment's order."""
        wanted = list(patterns)
        known = [*self.variants, *self.references]
        for pattern in wanted:
            if not any(fnmatchcase(name, pattern) for name in known):
                near = did_you_mean(pattern, known)
                raise UnknownNameError(f"{self.name} has no variant {pattern!r}.{near} Known: {'; '.join(known)}.")
        return [name for name in known if any(fnmatchcase(name, pattern) for pattern in wanted)]
