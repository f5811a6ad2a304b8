"""Train from data to model folder: what the command line, the estimator and the benchmarks call."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jointmatch.config import merge
from jointmatch.data import Splits
from jointmatch.job import Job, Outcome
from jointmatch.listener import Chorus, Listener
from jointmatch.networks import free_memory
from jointmatch.training import side_by_side

__all__ = ["Outcome", "run", "run_seeds"]


def run(
    splits: Splits,
    settings: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    listener: Listener | None = None,
    resume: bool = False,
) -> Outcome:
    """Train on splits with partial settings and, if given a folder, record everything there.

    Args:
        splits: Labelled texts, pool, and dev and test parts if any.
        settings: Section -> key -> value, laid over the recipe; see ``jointmatch.config``.
        folder: Run folder, already claimed; None keeps everything in memory.
        listener: Receives notes, progress and evaluations.
        resume: Resume from the folder's checkpoint if it has one.
    """
    return Job(splits, settings or {}, folder, listener or Listener(), resume).run()


def run_seeds(
    splits: Sequence[Splits],
    settings: Mapping[str, Any] | None,
    seeds: Sequence[int],
    folders: Sequence[str | Path] | None = None,
    listener: Listener | None = None,
    resume: bool = False,
) -> list[Outcome]:
    """Train several seeds side by side with the same settings; each outcome is that of the seed trained alone.

    Where networks cannot be run as one, the seeds are trained one after another, and a note says why.

    Args:
        splits: One for each seed; all the same if only the random choices are to differ.
        settings: As for ``run``; their seed is ignored.
        seeds: One for each of the splits.
        folders: A run folder for each seed, already claimed; None keeps everything in memory.
        listener: Receives the notes of all seeds, repeated ones only once.
        resume: Keep the seeds whose folders say that they are finished, and resume the others.
    """
    chorus = Chorus(listener or Listener())
    places: Sequence[str | Path | None] = folders or [None] * len(seeds)
    jobs = [
        Job(own, merge(settings or {}, {"training": {"seed": seed}}), place, chorus.voice(seed), resume)
        for own, seed, place in zip(splits, seeds, places, strict=True)
    ]
    for job in jobs[1:]:
        job.assembly.share(jobs[0].assembly)
    kept = {i: outcome for i, job in enumerate(jobs) if (outcome := job.kept()) is not None}
    left = [job for i, job in enumerate(jobs) if i not in kept]
    for job in jobs:
        job.assembly.runs = len(jobs)  # including the kept ones: the rest must be computed as they were
    made: list[Outcome] = []
    while left:
        group = _group(left, chorus, jobs[0])
        left = left[len(group) :]
        made += _together(group, chorus) if len(group) > 1 else [_alone(group[0])]
    new = iter(made)
    return [kept[i] if i in kept else next(new) for i in range(len(jobs))]


def _group(jobs: Sequence[Job], chorus: Chorus, earlier: Job) -> Sequence[Job]:
    """Prepare and return the first job and those after it that are trained together with it."""
    first = jobs[0]
    first.prepare(like=earlier if first.is_like(earlier) else None)
    first.warm_up()
    first.build()
    reason = first.learner.why_not_joined() or first.assembly.why_in_turn
    if len(jobs) > 1 and reason:
        chorus.note(f"The seeds are trained one after another: {reason}.")
    if len(jobs) == 1 or reason:
        return [first]
    group = [first]
    free = free_memory(first.assembly.device)
    most = len(jobs) if free is None else 1 + free // (2 * first.learner.bytes_to_train())
    if most < len(jobs):
        chorus.note(f"There is memory for {most} seed(s) side by side.")
    for job in jobs[1:most]:
        if not job.is_like(first):
            break
        job.prepare(like=first)
        group.append(job)
    _warm_up(group[1:])
    for job in group[1:]:
        job.build()
    return group


def _warm_up(jobs: Sequence[Job]) -> None:
    """Train the heads of warm starts, those of all jobs at once where that is faster."""
    heads = [job.start for job in jobs if job.start is not None]
    if len(heads) < 2 or any(own.learner.why_not_joined() for own in heads):
        for job in jobs:
            job.warm_up()
        return
    start = time.perf_counter()
    side_by_side([own.loop for own in heads])
    share = (time.perf_counter() - start) / len(heads)
    for job in jobs:
        job.seconds["training"] = share if job.start is not None else 0.0


def _together(jobs: Sequence[Job], chorus: Chorus) -> list[Outcome]:
    chorus.note(f"Training {len(jobs)} seeds side by side.")
    start = time.perf_counter()
    with chorus.together(len(jobs)):
        trained = side_by_side([job.loop for job in jobs])
    share = (time.perf_counter() - start) / len(jobs)
    outcomes = []
    for job, own in zip(jobs, trained, strict=True):
        job.seconds["training"] += share
        job.side_by_side = len(jobs)
        outcomes.append(job.finish(own))
    return outcomes


def _alone(job: Job) -> Outcome:
    return job.finish(job.timed("training", job.loop.run))
