"""Inputs prepared in the background while the device is busy with the step before."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

import numpy as np
import torch

from jointmatch.processes import follow

PROCESSES = 2
PATIENCE = 60.0  # seconds after which a process that does not answer is taken for stuck

Where = Literal["here", "thread", "processes"]


class Ahead:
    """Calls methods of a maker before their results are asked for; they must depend on their arguments alone.

    A thread will do for what is mostly numbers. Writing texts takes so much Python that a thread would hold up the one
    that drives the device: processes do not. Where they fail, all is made when it is asked for, and a line is said.

    Args:
        maker: Whose methods; it must not change any more.
        where: They are called in the background; ``here`` is for a device that is the CPU itself.
        tell: Hears why there is no background any more.
    """

    def __init__(self, maker: Any, where: Where, tell: Callable[[str], None] = lambda text: None) -> None:
        self.maker, self.tell = maker, tell
        self._pool = _pool(maker, where)
        self._forked = False
        self._waiting: dict[Hashable, Future[Any]] = {}
        self._due: set[Hashable] = set()  # of the step that is under way, while the next one's are begun

    def next_step(self) -> None:
        """From here on what is expected is of a step later; what nobody came for at the step before is dropped.

        By steps and not by number: a step may ask for hundreds of batches, and all of the next one's are begun while
        its own still wait.
        """
        for key in self._due & self._waiting.keys():
            self._waiting.pop(key).cancel()
        self._due = set(self._waiting)

    def expect(self, method: str, *args: Any) -> None:
        """Begin to make what will be asked for."""
        key = _key(method, args)
        if self._pool is None or key in self._waiting:
            return
        if not isinstance(self._pool, ProcessPoolExecutor):
            self._waiting[key] = self._pool.submit(getattr(self.maker, method), *args)
            return
        try:
            with nullcontext() if self._forked else _quiet_fork():
                self._waiting[key] = self._pool.submit(_call, method, *args)
            self._forked = True
        except (OSError, RuntimeError) as error:  # no room for another process, or one that has died
            self._give_up(error)

    def take(self, method: str, *args: Any) -> Any:
        """What was begun, or made now."""
        make, waiting = getattr(self.maker, method), self._waiting.pop(_key(method, args), None)
        if waiting is None:
            return make(*args)
        try:
            return waiting.result(PATIENCE)
        except Exception as error:
            made = make(*args)  # if it was the input's fault, this is where it is raised
            self._give_up(error)
            return made

    def close(self) -> None:
        """From here on everything is made when it is asked for."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = None
        self._waiting.clear()

    def _give_up(self, error: Exception) -> None:
        if self._pool is None:
            return
        if isinstance(self._pool, ProcessPoolExecutor):
            _kill(self._pool)
        self.close()
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        self.tell(f"Views are not made in the background any more ({why}): slower, with the same results.")


def can_fork() -> bool:
    """Whether there are processes that begin with all that this one has, and cores for them."""
    may = not multiprocessing.current_process().daemon  # such a one must not have children
    return may and "fork" in multiprocessing.get_all_start_methods() and (os.cpu_count() or 1) > PROCESSES


def _pool(maker: Any, where: Where) -> Executor | None:
    if where == "processes":
        # Forked, they have the texts and all that was looked up so far; they never touch the device.
        return ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("fork"), _begin, (maker, os.getpid()))
    return ThreadPoolExecutor(1, "inputs") if where == "thread" else None


@contextmanager
def _quiet_fork() -> Iterator[None]:
    """Without Python's word on forking beside threads: these children do nothing but Python of their own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        yield


def _kill(pool: ProcessPoolExecutor) -> None:
    """End processes that may be stuck: the interpreter waits for them at its end."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()


_maker: Any = None  # in a process of the pool


def _begin(maker: Any, parent: int) -> None:
    global _maker
    _maker = maker
    gc.freeze()  # what came from the other process is not this one's to clear away
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    follow(parent)


def _call(method: str, *args: Any) -> Any:
    return getattr(_maker, method)(*args)


def _key(method: str, args: tuple[Any, ...]) -> Hashable:
    return method, *(arg.tobytes() if isinstance(arg, np.ndarray) else arg for arg in args)
