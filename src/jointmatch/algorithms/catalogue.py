"""Facts about an algorithm before it is run, read from the code that runs."""

from __future__ import annotations

from typing import Any

from jointmatch.algorithms.base import ALGORITHMS, Algorithm, describe_settings, settings_of
from jointmatch.config import recipe, recipe_names
from jointmatch.types import Task

MODES = ("lite", "full")
TECHNIQUES = {
    "pseudo_labelling": "confident predictions are the labels of unlabelled texts",
    "weak_strong": "the label comes from a weak view, the loss from a strong one",
    "adaptive_threshold": "each class has a threshold of its own, which follows training",
    "double_networks": "two or more networks are trained together",
    "cross_labelling": "a network is taught by another, not by itself",
    "disagreement_update": "texts on which the networks differ are preferred",
    "weighted_update": "texts on which they agree count too, but less",
}
"""The paper's table of techniques: name -> meaning."""


def techniques(name: str) -> dict[str, bool]:
    """Which techniques an algorithm has under its default settings: its composition, overridden by ``stated``."""
    cls = ALGORITHMS[name]
    made = cls(Task(num_classes=2, num_networks=cls.networks, pool_size=2))
    return made.composition() | dict(cls.stated)


def entry(name: str) -> dict[str, Any]:
    """One entry in the list of algorithms."""
    cls = ALGORITHMS[name]
    return {
        "name": name,
        "idea": idea(cls),
        "networks": cls.networks,
        "modes": [mode for mode in MODES if mode not in cls.unsuited],
        "techniques": techniques(name),
        "stated": sorted(cls.stated),
        "reference": cls.reference,
        "note": cls.note,
        "unverified": cls.unverified,
        "plugin": ALGORITHMS.source(name) or None,
    }


def details(name: str) -> dict[str, Any]:
    """Everything to show about one algorithm."""
    cls = ALGORITHMS[name]
    meanings = describe_settings(name)
    return entry(name) | {
        "rule": cls.rule,
        "unsuited": dict(cls.unsuited),
        "views": cls.num_views,
        "requires": _flat(cls.requires),
        "settings": {key: parameter.default for key, parameter in settings_of(name).items()},
        "meanings": {key: meanings.get(key, "") for key in settings_of(name)},
        "recipes": {
            which: {
                mode: changes for mode in MODES if mode not in cls.unsuited and (changes := changed(name, which, mode))
            }
            for which in recipe_names()
        },
    }


def idea(cls: type[Algorithm]) -> str:
    """First line of the docstring."""
    return (cls.__doc__ or "").strip().partition("\n")[0].replace("``", "")


def changed(name: str, which: str, mode: str) -> dict[str, Any]:
    """What a recipe sets for this algorithm alone, where it differs from the algorithm's own defaults."""
    defaults = {f"algorithm.{key}": parameter.default for key, parameter in settings_of(name).items()}
    general = defaults | _flat(recipe(which, mode, algorithm=""))
    return {key: value for key, value in _flat(recipe(which, mode, name)).items() if general.get(key) != value}


def _flat(settings: Any) -> dict[str, Any]:
    return {f"{section}.{key}": value for section, values in settings.items() for key, value in values.items()}
