"""A cell: one data set, label count, seed, settings and backbone; and the name it is found by.

The name is a digest of exactly what the result depends on: the wording and order of an experiment file do not matter,
nor which experiment asked. Settings at their defaults are left out, so that adding a setting later changes no name; a
record holds all of its settings, which tell where a default has changed since (``same``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from jointmatch import algorithms
from jointmatch.benchmark.experiment import Experiment
from jointmatch.config import Config, Settings, build, merge, recipe
from jointmatch.errors import ConfigError
from jointmatch.networks import find_backbone
from jointmatch.resolve import choose_mode, frozen_views, resolve

REFERENCE: Settings = {
    "algorithm": {"name": "supervised"},
    "network": {"count": 2},  # so that they read what two networks read
    "training": {"recipe": "best", "mode": "lite"},
}
"""What the baselines are computed beside: plain heads on the frozen features, once per data set, labels and seed."""

# Settings of where and how fast, but not what, which are no part of a cell. Seed and backbone have fields of their own,
# and views that cannot be made are an error, since numbers from stand-ins would belong to another experiment.
_OUTSIDE = {
    ("training", "seed"),
    ("training", "device"),
    ("network", "backbone"),
    ("network", "stacked"),
    ("network", "compiled"),
    ("network", "fused"),
    ("augment", "fallback"),
}


# Settings added to recipes later: left out at the recipe's value. Where they make a difference (data sets of long
# texts), the experiments set them themselves, so that earlier runs are not mistaken for new ones.
_SAID_SINCE = [("network", "cut")]


@dataclass(frozen=True)
class Cell:
    """One run that an experiment wants."""

    data: str
    labels: int
    seed: int
    settings: Settings  # resolved, complete
    backbone: str  # the fingerprint
    asked: Settings  # the settings a run is started with
    imbalance: float | None = None
    test: bool = True  # whether the test part is scored
    reference: bool = False  # whether the baselines are wanted
    row: str = ""  # of the experiment that asks for it: for messages, and no part of its name

    @property
    def name(self) -> str:
        """Human-readable name."""
        what = "references" if self.reference else self.settings["algorithm"]["name"]
        return f"{what}, {self.settings['training']['recipe']}, {self.settings['training']['mode']}"

    @property
    def key(self) -> str:
        """Digest shared by the seeds of a variant."""
        facts = {
            "data": self.data,
            "labels": self.labels,
            "imbalance": self.imbalance,
            "settings": _without_defaults(self.settings),
            "backbone": self.backbone,
            "reference": self.reference,
        }
        return _digest(facts)

    @property
    def path(self) -> str:
        """Path of its record in a store."""
        thinned = f"-imbalance-{self.imbalance:g}" if self.imbalance else ""
        words = self.name.replace(", ", "-")
        return f"{self.data}-{self.labels}{thinned}/{words}-{self.key}/seed-{self.seed}.json"

    def without_words(self) -> Cell | None:
        """The cell of the same networks without a word reader, if this one has a reader: one run yields both."""
        if not self.settings.get("network", {}).get("word_reader"):
            return None
        none: Settings = {"network": {"word_reader": False}}
        return replace(self, settings=merge(self.settings, none), asked=merge(self.asked, none))

    def same(self, settings: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether a record's settings are these; a setting that only one of them has was added or dropped since."""
        return all(
            settings[section][key] == value
            for section, values in self.settings.items()
            for key, value in values.items()
            if key in settings.get(section, {})
        )


def cells_of(experiment: Experiment, variant: str, data: str, labels: int, backbone: str = "auto") -> list[Cell]:
    """The cells of one row on one data set, one per seed; ``variant`` may be one of the references."""
    reference = variant in experiment.references and variant not in experiment.variants
    asked = _reference(experiment, data) if reference else experiment.settings_of(variant, data)
    if backbone != "auto":
        asked = merge(asked, {"network": {"backbone": backbone}})
    try:
        settings = _complete(asked)
    except ConfigError as error:
        raise ConfigError([f"{experiment.name}, {variant}, {data}: {fault}" for fault in error.faults]) from None
    fingerprint = find_backbone(asked.get("network", {}).get("backbone", "auto")).fingerprint()
    place = (experiment.imbalance, experiment.test, reference, variant)
    first = Cell(data, labels, 0, settings, fingerprint, asked, *place)
    fixed: Settings = {"augment": {"fallback": ""}, "output": {"baselines": reference}}
    return [
        replace(first, seed=seed, asked=merge(asked, fixed, {"training": {"seed": seed}})) for seed in experiment.seeds
    ]


def all_cells(experiment: Experiment, backbone: str = "auto", only: list[str] | None = None) -> Iterator[list[Cell]]:
    """The seeds of every row; cells that rows share are the first one's. In the end, all faults are raised."""
    rows = experiment.named(only) if only else [*experiment.variants, *experiment.references]
    met: set[tuple[str, int]] = set()
    faults: dict[str, str] = {}  # each once, at the first row that has it
    for data, counts in experiment.data.items():
        for labels in counts:
            for row in rows:
                try:
                    cells = cells_of(experiment, row, data, labels, backbone)
                except ConfigError as error:
                    faults |= {fault.partition(": ")[2]: fault for fault in error.faults} | faults
                    continue
                if (cells[0].key, labels) not in met:
                    met.add((cells[0].key, labels))
                    yield cells
    if faults:
        raise ConfigError(list(faults.values()))


def _reference(experiment: Experiment, data: str) -> Settings:
    """Settings of the references: features are cut where the experiment cuts texts; its other settings do not apply."""
    asked = merge(experiment.settings, experiment.on.get(data, {})).get("network", {})
    cut = {key: value for key, value in asked.items() if key in ("max_length", "cut", "backbone")}
    return merge(REFERENCE, {"network": cut})


def _complete(asked: Settings) -> Settings:
    """Every setting the result depends on, including defaults and the algorithm's own."""
    mode, _ = choose_mode(asked, 1)
    config = resolve(asked, mode)
    algorithm = {key: p.default for key, p in algorithms.settings_of(config.algorithm.name).items()}
    settings = merge({"algorithm": algorithm}, config.to_dict())
    settings["network"]["count"] = algorithms.networks_of(config)
    del settings["output"]
    found = {
        section: {key: _plain(v) for key, v in sorted(values.items()) if (section, key) not in _OUTSIDE}
        for section, values in settings.items()
    }
    if mode == "full":  # heads start on features of the views in the recipe's lite part
        own = {key: _plain(value) for key, value in asdict(frozen_views(asked, config)).items() if key != "fallback"}
        found["frozen_views"] = {"digest": _digest(own)}
    if mode == "full" and config.training.warm_start:  # then the result depends on that part, too
        kept = {
            "algorithm": asked.get("algorithm", {}),
            "network": {"backbone": config.network.backbone},
            "training": {"recipe": config.training.recipe, "mode": "lite"},
        }
        lite = _without_defaults(_complete(kept))
        found["warm_start"] = {"digest": _digest({key: lite[key] for key in ("algorithm", "training")})}
    return found


def _digest(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@cache
def _defaults() -> dict[str, Any]:
    return asdict(Config()) | {"frozen_views": {}, "warm_start": {}}


@cache
def _said_since(name: str, mode: str) -> Settings:
    said = build(recipe(name, mode)).to_dict()
    return {section: {key: said[section][key]} for section, key in _SAID_SINCE}


def _without_defaults(settings: Settings) -> Settings:
    own = algorithms.settings_of(settings["algorithm"]["name"])
    defaults = _defaults() | {"algorithm": {key: p.default for key, p in own.items()}}
    defaults = merge(defaults, _said_since(settings["training"]["recipe"], settings["training"]["mode"]))
    return {
        section: {
            key: value
            for key, value in values.items()
            if key not in defaults[section] or value != _plain(defaults[section][key])
        }
        for section, values in settings.items()
    }
