"""Inputs prepared in the background while the device is busy with the step before."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")
MOST = 64  # what nobody came for is dropped beyond so many


class Ahead(Generic[T]):
    """Makes things before they are asked for, in one thread; they must be functions of their keys.

    Args:
        enabled: Where the device is the CPU itself there is nobody to work meanwhile: all is made when asked for.
    """

    def __init__(self, enabled: bool) -> None:
        self._thread = ThreadPoolExecutor(1, "inputs") if enabled else None
        self._waiting: dict[Hashable, Future[T]] = {}

    def expect(self, key: Hashable, make: Callable[[], T]) -> None:
        """Begin to make what will be asked for under ``key``."""
        if self._thread is None or key in self._waiting:
            return
        while len(self._waiting) >= MOST:
            self._waiting.pop(next(iter(self._waiting))).cancel()
        self._waiting[key] = self._thread.submit(make)

    def take(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was begun under ``key``, or made now."""
        waiting = self._waiting.pop(key, None)
        return make() if waiting is None else waiting.result()
