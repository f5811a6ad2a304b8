"""What the variants of an experiment file are: tables laid over each other, combinations, and likenesses."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from jointmatch.benchmark.experiment import Variant
from jointmatch.config import SECTIONS

_WHOLE = ("data", "cross", "rows", "options")  # replaced as a whole, not merged


def over(base: dict[str, Any], own: Mapping[str, Any], whole: tuple[str, ...] = _WHOLE) -> dict[str, Any]:
    """Merge tables key by key and replace everything else as a whole."""
    laid = dict(base)
    for key, value in own.items():
        below = laid.get(key)
        deep = isinstance(value, Mapping) and isinstance(below, dict) and key not in whole
        laid[key] = over(below, value, ()) if deep and isinstance(below, dict) else value
    return laid


def settings_by_name(raw: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Variant -> what the file says about it: one for each combination of ``cross``, and those named."""
    found: dict[str, dict[str, Any]] = {}
    cross = raw.get("cross", {})
    for values in product(*cross.values()) if cross else []:
        own: dict[str, Any] = {}
        for key, value in zip(cross, values, strict=True):
            section, _, setting = key.partition(".")
            own.setdefault(section, {})[setting] = value
        found[", ".join(_called(key, value) for key, value in zip(cross, values, strict=True))] = own
    for name, own in raw.get("variants", {}).items():
        found[name] = over(found.get(name, {}), own, ())
    return {name: _like(found, name) for name in found}


def _like(found: Mapping[str, dict[str, Any]], name: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """A variant laid over the settings of the one it is like, if any."""
    other = found[name].get("like")
    if other is None or other not in found or other in seen:
        return found[name]
    settings = {key: v for key, v in _like(found, other, (*seen, name)).items() if key in (*SECTIONS, "on")}
    return over(settings, found[name], ())


def _called(key: str, value: Any) -> str:
    """Names stand for themselves; other values are prefixed with their key."""
    return value if isinstance(value, str) else f"{key.partition('.')[2]} {value}"


def variants_of(raw: Mapping[str, Any]) -> list[Variant]:
    """The rows of a file that has been checked."""
    found = settings_by_name(raw)
    return [
        Variant(
            name,
            found[name].get("title", name),
            {key: value for key, value in found[name].items() if key in SECTIONS},
            found[name].get("on", {}),
            {data: _numbers(by_labels) for data, by_labels in found[name].get("paper", {}).items()},
        )
        for name in raw.get("rows", found)
    ]


def _numbers(by_labels: Mapping[str, Any]) -> dict[int, dict[str, list[float]]]:
    """Labels -> metric -> [mean] or [mean, std]; a bare number is the accuracy."""
    numbers = {}
    for labels, value in by_labels.items():
        metrics = value if isinstance(value, Mapping) else {"accuracy": value}
        numbers[int(labels)] = {metric: listed(number) for metric, number in metrics.items()}
    return numbers


def listed(value: Any) -> list[Any]:
    """A list as it is, and anything else as a list of one."""
    return value if isinstance(value, list) else [value]
