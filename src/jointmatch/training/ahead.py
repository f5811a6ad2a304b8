"""Inputs prepared in the background while the device is busy with the step before."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import numpy as np

T = TypeVar("T")
MOST = 64  # what nobody came for is dropped beyond so many


class Ahead(Generic[T]):
    """Calls functions before their results are asked for, in one thread; they must depend on their arguments alone.

    Args:
        enabled: Where the device is the CPU itself there is nobody to work meanwhile: all is made when asked for.
    """

    def __init__(self, enabled: bool) -> None:
        self._thread = ThreadPoolExecutor(1, "inputs") if enabled else None
        self._waiting: dict[Hashable, Future[T]] = {}

    def expect(self, make: Callable[..., T], *args: Any) -> None:
        """Begin to make what will be asked for."""
        key = _key(make, args)
        if self._thread is None or key in self._waiting:
            return
        while len(self._waiting) >= MOST:
            self._waiting.pop(next(iter(self._waiting))).cancel()
        self._waiting[key] = self._thread.submit(make, *args)

    def take(self, make: Callable[..., T], *args: Any) -> T:
        """What was begun, or made now."""
        waiting = self._waiting.pop(_key(make, args), None)
        return make(*args) if waiting is None else waiting.result()


def _key(make: Callable[..., Any], args: tuple[Any, ...]) -> Hashable:
    return make.__name__, *(arg.tobytes() if isinstance(arg, np.ndarray) else arg for arg in args)
