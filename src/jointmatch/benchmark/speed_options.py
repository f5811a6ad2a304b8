"""The speed suite's options in an experiment file, checked when it is read, not when a load's turn comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jointmatch.benchmark.suite import key_faults
from jointmatch.errors import ConfigError, did_you_mean

AXES = ("networks", "seeds", "mu", "length", "pool")
OTHER = "other"  # in ``steps``: all ways not named
_KINDS: dict[str, tuple[type, str]] = {
    "shapes": (list, 'a list of shapes, such as ["minilm"]'),
    "ways": (list, 'a list of ways, such as ["apart", "stacked"]'),
    "ours": (str, "one of the ways"),
    "compared": (list, "a list of loads, such as [{}, { shortest = 16 }]"),
    "beside": (list, "a list of loads, such as [{ seeds = 5 }]"),
    "usual": (dict, "a load, such as { batch = 8 }"),
    "steps": (dict, "a number for each way, such as { published = 9, other = 60 }"),
    "grow": (dict, "a table of axes and their values, such as { mu = [1, 5] }"),
}


def speed_faults(options: Mapping[str, Any]) -> list[str]:
    """Faults in words; loads are checked only if everything else is as it should be."""
    faults = key_faults("speed", options, tuple(_KINDS))
    for key, (kind, wanted) in _KINDS.items():
        if key in options and not isinstance(options[key], kind):
            faults.append(f"options.{key} is {options[key]!r}, wanted {wanted}")
    return faults or _name_faults(options) or _load_faults(options)


def _name_faults(options: Mapping[str, Any]) -> list[str]:
    """Faults in shapes, ways, axes and the values given for them."""
    from jointmatch.benchmark.speed import SHAPES, WAYS

    ways, faults = options["ways"], []
    for key, known in (("shapes", SHAPES), ("ways", WAYS)):
        if not options[key]:
            faults.append(f"options.{key} is [], wanted {_KINDS[key][1]}")
        faults += _unknown(f"options.{key}", options[key], known)
    if ways and options["ours"] not in ways:
        faults += _unknown("options.ours", [options["ours"]], [way for way in ways if isinstance(way, str)])
    faults += _unknown("options.steps", options["steps"], [*WAYS, OTHER])
    faults += _unknown("options.grow", options["grow"], AXES)
    for way, steps in options["steps"].items():
        if type(steps) is not int or steps < 1:
            faults.append(f"options.steps.{way} is {steps!r}, wanted a whole number at least 1")
    for axis, values in options["grow"].items():
        if not isinstance(values, list) or not values:
            faults.append(f"options.grow.{axis} is {values!r}, wanted a list of numbers, such as [1, 2]")
    for key in ("compared", "beside"):
        faults += [
            f"options.{key} has {own!r}, wanted a table, such as {{ seeds = 5 }}"
            for own in options[key]
            if not isinstance(own, Mapping)
        ]
    return faults


def _unknown(where: str, names: Iterable[Any], known: Iterable[str]) -> list[str]:
    known = list(known)
    return [
        f"{where} has {name!r}.{did_you_mean(str(name), known)} Known: {', '.join(known)}."
        for name in names
        if not isinstance(name, str) or name not in known
    ]


def _load_faults(options: Mapping[str, Any]) -> list[str]:
    """Faults in the loads to measure: first in what all share, which every load would report again."""
    ways, usual = options["ways"], {"way": options["ours"], **options["usual"]}
    if faults := _faults_of(usual, {}, "usual", ways):
        return faults
    own = [(key, load) for key in ("compared", "beside") for load in options[key]]
    own += [("grow", {axis: value}) for axis, values in options["grow"].items() for value in values]
    return [fault for key, load in own for fault in _faults_of(usual, load, key, ways)]


def _faults_of(usual: Mapping[str, Any], own: Mapping[str, Any], key: str, ways: Sequence[str]) -> list[str]:
    from jointmatch.benchmark.speed import Load

    try:
        load = Load.of({**usual, **own})
    except ConfigError as error:
        return [f"options.{key}: {fault}" for fault in error.faults]
    return [f"options.{key} has the way {load.way!r}, which is not in options.ways"] if load.way not in ways else []
