"""Check settings against type annotations and ranges, collecting every fault.

One set of rules serves the config's dataclasses and the algorithms' constructors:
an annotation such as ``Annotated[float, Range(0, 1)]`` is the whole declaration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from jointmatch.errors import did_you_mean


@dataclass(frozen=True)
class Range:
    """The values a number may take, both ends included."""

    low: float = -math.inf
    high: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"at least {self.low:g}"
        return f"from {self.low:g} to {self.high:.10g}"


Fraction = Annotated[float, Range(0, 1)]
Positive = Annotated[float, Range(1e-12)]
NonNegative = Annotated[float, Range(0)]
Count = Annotated[int, Range(0)]
AtLeastOne = Annotated[int, Range(1)]


class _Misfit(Exception):
    """A value that does not fit its annotation; the text says what was wanted."""


def check(hints: Mapping[str, Any], values: Mapping[str, Any], section: str) -> tuple[dict[str, Any], list[str]]:
    """Fit ``values`` to ``hints``; return the fitted values and a list of faults."""
    fitted: dict[str, Any] = {}
    faults: list[str] = []
    for key, value in values.items():
        if key not in hints:
            known = ", ".join(sorted(hints)) or "none"
            faults.append(f"unknown key {section}.{key}.{did_you_mean(key, hints)} Known in {section}: {known}")
            continue
        try:
            fitted[key] = _fit(hints[key], value)
        except _Misfit as misfit:
            faults.append(f"{section}.{key} is {value!r}, wanted {misfit}")
    return fitted, faults


def _fit(hint: Any, value: Any) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _fit_range(args[0], args[1], value)
    if origin is Literal:
        if value not in args:
            raise _Misfit("one of " + ", ".join(map(repr, args)))
        return value
    if origin in (Union, UnionType):
        return _fit_union(args, value)
    if origin is tuple:
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if not items:
            raise _Misfit("at least one value")
        return tuple(_fit(args[0], item) for item in items)
    return _fit_plain(hint, value)


def _fit_range(hint: Any, bounds: Range, value: Any) -> Any:
    try:
        fitted = _fit(hint, value)
    except _Misfit as misfit:
        raise _Misfit(f"{misfit} {bounds}") from None
    if fitted not in bounds:
        raise _Misfit(f"a number {bounds}")
    return fitted


def _fit_union(options: tuple[Any, ...], value: Any) -> Any:
    if value is None and NoneType in options:
        return None
    wanted = []
    for option in options:
        if option is NoneType:
            continue
        try:
            return _fit(option, value)
        except _Misfit as misfit:
            wanted.append(str(misfit))
    raise _Misfit(" or ".join(wanted))


def _fit_plain(hint: Any, value: Any) -> Any:
    if hint is bool and isinstance(value, bool):
        return value
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
        return float(value)
    if hint is str and isinstance(value, str):
        return value
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    raise _Misfit(names.get(hint, str(hint)))
