"""A cell: one data set, so many labels, one seed, settings and a backbone; and the name it is found by.

The name is a digest of what the result depends on and of nothing else: the wording and order of an experiment file do
not matter, nor which experiment asked. Settings at their defaults are left out, so that a setting that is added later
changes no name; a record holds all of its settings, and where a default has changed since, they tell (``same``).
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
    "network": {"count": 2},  # so that what is read is what two networks read
    "training": {"recipe": "best", "mode": "lite"},
}
"""What the baselines are computed beside: plain heads on the frozen features, once per data set, labels and seed."""

# Where and how fast, but not what: these are no part of a cell. Seed and backbone have places of their own, and views
# that cannot be made are an error, since numbers under stand-ins for them would be another experiment's.
_OUTSIDE = {
    ("training", "seed"),
    ("training", "device"),
    ("network", "backbone"),
    ("network", "stacked"),
    ("network", "compiled"),
    ("network", "fused"),
    ("augment", "fallback"),
}


# Added to recipes since: as a recipe says it, it is left out. Sets for which that makes a difference (long texts) say
# it themselves, in their experiments, so that what was run before is not taken for it.
_SAID_SINCE = [("network", "cut")]


@dataclass(frozen=True)
class Cell:
    """One run that an experiment wants."""

    data: str
    labels: int
    seed: int
    settings: Settings  # resolved, complete
    backbone: str  # the fingerprint
    asked: Settings  # what a run is started with
    imbalance: float | None = None
    test: bool = True  # whether the test part is scored
    reference: bool = False  # whether the baselines are what is wanted

    @property
    def name(self) -> str:
        """What it is, for people."""
        what = "references" if self.reference else self.settings["algorithm"]["name"]
        return f"{what}, {self.settings['training']['recipe']}, {self.settings['training']['mode']}"

    @property
    def key(self) -> str:
        """Shared by the seeds of a variant."""
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
        """Where its record lies in a store."""
        thinned = f"-imbalance-{self.imbalance:g}" if self.imbalance else ""
        words = self.name.replace(", ", "-")
        return f"{self.data}-{self.labels}{thinned}/{words}-{self.key}/seed-{self.seed}.json"

    def same(self, settings: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether a record's settings are these; what only one of the two knows is a setting added or dropped since."""
        return all(
            settings[section][key] == value
            for section, values in self.settings.items()
            for key, value in values.items()
            if key in settings.get(section, {})
        )


def cells_of(experiment: Experiment, variant: str, data: str, labels: int, backbone: str = "auto") -> list[Cell]:
    """The cells of one row on one data set, a seed each; ``variant`` may be one of the references."""
    reference = variant in experiment.references and variant not in experiment.variants
    asked = _reference(experiment, data) if reference else experiment.settings_of(variant, data)
    if backbone != "auto":
        asked = merge(asked, {"network": {"backbone": backbone}})
    try:
        settings = _complete(asked)
    except ConfigError as error:
        raise ConfigError([f"{experiment.name}, {variant}, {data}: {fault}" for fault in error.faults]) from None
    fingerprint = find_backbone(asked.get("network", {}).get("backbone", "auto")).fingerprint()
    first = Cell(data, labels, 0, settings, fingerprint, asked, experiment.imbalance, experiment.test, reference)
    fixed: Settings = {"augment": {"fallback": ""}, "output": {"baselines": reference}}
    return [
        replace(first, seed=seed, asked=merge(asked, fixed, {"training": {"seed": seed}})) for seed in experiment.seeds
    ]


def all_cells(experiment: Experiment, backbone: str = "auto", only: list[str] | None = None) -> Iterator[list[Cell]]:
    """Every row's seeds; several references come from the same cells."""
    rows = experiment.named(only) if only else [*experiment.variants, *experiment.references]
    met = set()
    for data, counts in experiment.data.items():
        for labels in counts:
            for row in rows:
                cells = cells_of(experiment, row, data, labels, backbone)
                if (cells[0].key, labels) not in met:
                    met.add((cells[0].key, labels))
                    yield cells


def _reference(experiment: Experiment, data: str) -> Settings:
    """Features are cut where the experiment cuts texts; the rest of its settings is not for them."""
    asked = merge(experiment.settings, experiment.on.get(data, {})).get("network", {})
    cut = {key: value for key, value in asked.items() if key in ("max_length", "cut", "backbone")}
    return merge(REFERENCE, {"network": cut})


def _complete(asked: Settings) -> Settings:
    """Every setting the result depends on, defaults and the algorithm's own included."""
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
    if mode == "full":  # heads start on features of the views that the recipe's lite part has
        own = {key: _plain(value) for key, value in asdict(frozen_views(asked, config)).items() if key != "fallback"}
        found["frozen_views"] = {"digest": _digest(own)}
    if mode == "full" and config.training.warm_start:  # then that part has a say, too
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
