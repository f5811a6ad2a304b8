"""Inputs prepared in the background while the device is busy with the previous step."""

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
PATIENCE = 60.0  # seconds after which an unresponsive worker counts as stuck

Where = Literal["here", "thread", "processes"]


class Ahead:
    """Calls a maker's methods before their results are needed; these must depend on their arguments alone.

    A thread is enough for mostly numerical work. Writing texts takes so much Python that a thread would hold up the
    one that drives the device; worker processes do not. If they fail, everything is made on demand, with a message.

    Args:
        maker: The object whose methods are called; it must no longer change.
        where: Where they are called in the background; ``here``, for when the device is the CPU, means not at all.
        tell: Is told why nothing is made in the background any more.
    """

    def __init__(self, maker: Any, where: Where, tell: Callable[[str], None] = lambda text: None) -> None:
        self.maker, self.tell = maker, tell
        self._pool = _pool(maker, where)
        self._forked = False
        self._waiting: dict[Hashable, Future[Any]] = {}
        self._due: set[Hashable] = set()  # keys of the current step, while the next one's are being started

    def next_step(self) -> None:
        """Expect the inputs of one step later from now on; drop those of the previous step that nobody took.

        The limit is in steps, not in inputs: a step may ask for hundreds of batches, and all of the next one's are
        started while its own are still waiting.
        """
        for key in self._due & self._waiting.keys():
            self._waiting.pop(key).cancel()
        self._due = set(self._waiting)

    def expect(self, method: str, *args: Any) -> None:
        """Start making what will be needed."""
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
        except (OSError, RuntimeError) as error:  # no room for another process, or one has died
            self._give_up(error)

    def take(self, method: str, *args: Any) -> Any:
        """The result, started earlier or made now."""
        make, waiting = getattr(self.maker, method), self._waiting.pop(_key(method, args), None)
        if waiting is None:
            return make(*args)
        try:
            return waiting.result(PATIENCE)
        except Exception as error:
            made = make(*args)  # if the input is at fault, this raises
            self._give_up(error)
            return made

    def close(self) -> None:
        """Stop working in the background; from now on everything is made on demand."""
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
    """Whether processes can be forked from this one, and there are cores for them."""
    may = not multiprocessing.current_process().daemon  # a daemon must not have children
    return may and "fork" in multiprocessing.get_all_start_methods() and (os.cpu_count() or 1) > PROCESSES


def _pool(maker: Any, where: Where) -> Executor | None:
    if where == "processes":
        # Forked processes inherit the texts and everything looked up so far; they never touch the device.
        return ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("fork"), _begin, (maker, os.getpid()))
    return ThreadPoolExecutor(1, "inputs") if where == "thread" else None


@contextmanager
def _quiet_fork() -> Iterator[None]:
    """Silence Python's warning about forking beside threads: these children only run Python of their own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        yield


def _kill(pool: ProcessPoolExecutor) -> None:
    """Kill processes that may be stuck: the interpreter would wait for them on exit."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()


_maker: Any = None  # in a worker process


def _begin(maker: Any, parent: int) -> None:
    global _maker
    _maker = maker
    gc.freeze()  # what was inherited from the parent is not this process's to collect
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    follow(parent)


def _call(method: str, *args: Any) -> Any:
    return getattr(_maker, method)(*args)


def _key(method: str, args: tuple[Any, ...]) -> Hashable:
    return method, *(arg.tobytes() if isinstance(arg, np.ndarray) else arg for arg in args)
