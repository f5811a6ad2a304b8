"""Classes that other installed packages offer under an entry point group."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import metadata


class PluginWarning(UserWarning):
    """A plug-in that cannot be used; everything else can."""


@dataclass(frozen=True)
class Plugin:
    """What one entry point provides: a class, or the reason why there is none."""

    name: str
    source: str  # the package it comes from, with its version
    found: type | None = None
    problem: str = ""


def load_plugins(group: str, base: type) -> list[Plugin]:
    """Load every entry point of ``group``; what is wrong with one is recorded under its name."""
    points = sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value))
    return [_load(point, base) for point in points]


def _load(point: metadata.EntryPoint, base: type) -> Plugin:
    source = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    try:
        found = point.load()
    except Exception as error:  # whatever a third-party module raises, the others must still load
        return _broken(point, source, f"{type(error).__name__}: {error}")
    if not (isinstance(found, type) and issubclass(found, base)):
        return _broken(point, source, f"{point.value} is not a class made from {base.__name__}")
    if inspect.isabstract(found):
        lacking = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        return _broken(point, source, f"{point.value} lacks {lacking}")
    return Plugin(point.name, source, found)


def _broken(point: metadata.EntryPoint, source: str, why: str) -> Plugin:
    return Plugin(point.name, source, problem=f"The plug-in {source} gives no {point.name!r} ({why}).")
