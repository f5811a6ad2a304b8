"""Distribute units of work over processes: a failed run ends no other, and a process that dies is replaced."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.synchronize import Event

from jointmatch.benchmark.cell import Cell
from jointmatch.benchmark.store import Record
from jointmatch.benchmark.work import Unit, run_unit
from jointmatch.processes import follow

Finished = Callable[[Cell, Record], None]
Failed = Callable[[Unit, BaseException], None]


def work_off(units: Sequence[Unit], jobs: int, finished: Finished, failed: Failed) -> None:
    """Run every unit, ``jobs`` at a time; in this process if 1. If a unit fails, each of its seeds is tried alone."""
    single: list[Unit] = []

    def apart(unit: Unit, error: BaseException) -> None:
        if len(unit.cells) == 1:
            failed(unit, error)
        single.extend(replace(unit, cells=[cell]) for cell in unit.cells if len(unit.cells) > 1)

    _work_off(units, jobs, finished, apart)
    _work_off(list(single), jobs, finished, failed)


def _work_off(units: Sequence[Unit], jobs: int, finished: Finished, failed: Failed) -> None:
    if jobs == 1:
        for unit in units:
            try:
                done = run_unit(unit)
            except Exception as error:
                failed(unit, error)
            else:
                _tell(done, finished)
        return
    todo, workers = list(units), jobs
    while todo:
        lost = _round(todo, workers, finished, failed)
        stuck = len(lost) == len(todo)
        if stuck and workers == 1:  # then the first unit is the one that kills its process
            failed(lost.pop(0), BrokenProcessPool("its process ended without a word, as when memory runs out"))
        workers = 1 if stuck and workers > 1 else jobs
        todo = lost


def _round(units: Sequence[Unit], jobs: int, finished: Finished, failed: Failed) -> list[Unit]:
    """Run units, and return, in order, those that were not run because a process died."""
    # Spawned, not forked: a forked process cannot use the GPU.
    context = multiprocessing.get_context("spawn")
    stopped = context.Event()
    futures: dict[Future[list[tuple[Cell, Record]]], Unit] = {}
    with shared_cores(jobs), ProcessPoolExecutor(jobs, context, _begin, (os.getpid(), stopped)) as pool:
        try:
            for unit in units:
                futures[pool.submit(_unless_stopped, run_unit, unit)] = unit
            for future in as_completed(futures):
                error = future.exception()
                if error is None:
                    _tell(future.result(), finished)
                elif not isinstance(error, BrokenProcessPool):
                    failed(futures[future], error)
        except BaseException:  # Ctrl-C, or nobody is there to be told
            stopped.set()  # the pool has handed the next units out already, which can no longer be cancelled
            pool.shutdown(wait=True, cancel_futures=True)  # without waiting, the end of the block would undo it
            raise
    return [unit for future, unit in futures.items() if isinstance(future.exception(), BrokenProcessPool)]


_STOPPED: Event | None = None
"""In a worker process: set when the user has stopped the run, so that no unit is begun any more."""


def _begin(parent: int, stopped: Event) -> None:
    global _STOPPED
    _STOPPED = stopped
    follow(parent)


def _unless_stopped(run: Callable[[Unit], list[tuple[Cell, Record]]], unit: Unit) -> list[tuple[Cell, Record]]:
    return [] if _STOPPED is not None and _STOPPED.is_set() else run(unit)


def _tell(done: Sequence[tuple[Cell, Record]], finished: Finished) -> None:
    for cell, record in done:
        finished(cell, record)


@contextmanager
def shared_cores(jobs: int) -> Iterator[None]:
    """Limit threads per process: processes that share the cores must not each start a thread per core."""
    wanted = {
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // jobs)),
        "TOKENIZERS_PARALLELISM": "false",
    }
    new = {key: value for key, value in wanted.items() if key not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for key in new:
            del os.environ[key]
