"""Several runs trained side by side: each as if it were alone, but with their passes combined into one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import torch

from jointmatch.errors import JointMatchError
from jointmatch.training.conversation import Ask, Backward, Ready, answer
from jointmatch.training.joint import Joint
from jointmatch.training.learner import Joinable, Student, Weak
from jointmatch.training.loop import Loop, Trained
from jointmatch.training.stopping import StopRequest

# Which requests are answered first if runs ask for different things, so that those behind catch up with the others.
ORDER = (Weak, Student, Backward, Ready)


def side_by_side(loops: Sequence[Loop]) -> list[Trained]:
    """Train several runs with the same settings to the end.

    If one has to stop, all do: after the step they are at, with their states saved.
    """
    with StopRequest() as stop, ExitStack() as work:
        for loop in loops:
            work.enter_context(loop.updater.learner.at_work())
        terminations = _Talks(loops, stop).to_the_end()
    return [loop.end(termination) for loop, termination in zip(loops, terminations, strict=True)]


class _Talks:
    """The runs' conversations, answered in rounds.

    Args:
        loops: The runs; their learners are ``Joinable``.
        stop: The request to stop, which all of them check after every step.
    """

    def __init__(self, loops: Sequence[Loop], stop: StopRequest) -> None:
        self.loops, self.stop = loops, stop
        self.talks = {i: loop.conversation(stop) for i, loop in enumerate(loops)}
        self.asks: dict[int, Ask] = {}
        self.ends: dict[int, str] = {}
        self.error: JointMatchError | None = None
        self.members: list[int] = []  # the runs whose networks are joined
        self.joint: Joint | None = None

    def to_the_end(self) -> list[str]:
        """Answer the runs until all have ended; return each one's reason."""
        for run in range(len(self.loops)):
            self._tell(run, None)
        while self.asks:
            self._answer(self._next())
        self._part()
        if self.error is not None:
            raise self.error
        return [self.ends[run] for run in range(len(self.loops))]

    def _next(self) -> list[int]:
        """The runs to answer now: all with the same kind of request; of those ready for a step, the ones behind."""
        kind = next(kind for kind in ORDER if any(isinstance(ask, kind) for ask in self.asks.values()))
        runs = [run for run, ask in self.asks.items() if isinstance(ask, kind)]
        if kind is Ready:
            steps = {run: ask.step for run, ask in self.asks.items() if isinstance(ask, Ready)}
            runs = [run for run in runs if steps[run] == min(steps.values())]
        return sorted(runs)

    def _answer(self, runs: list[int]) -> None:
        asks = [self.asks.pop(run) for run in runs]
        replies: list[Any] = [None] * len(runs)
        lacking: str | None = None
        try:
            replies = self._replies(runs, asks)
        except torch.OutOfMemoryError as error:
            lacking = str(error)  # passed on once this block, which holds the failed pass's tensors, is left
        del asks
        if lacking is not None and self.joint:
            self.joint.forget_gradients()
        for run in runs:
            self._tell(run, replies.pop(0), lacking)

    def _replies(self, runs: list[int], asks: list[Any]) -> list[Any]:
        kind = type(asks[0])
        if kind is Ready:
            self._gather()
        elif self.joint and kind is Backward:
            self.joint.backward(asks)
        elif self.joint and runs == self.members:
            return self.joint.weak(asks) if kind is Weak else list(self.joint.student(asks))
        else:
            return [answer(ask, self.loops[run].updater.learner) for run, ask in zip(runs, asks, strict=True)]
        return [None] * len(runs)

    def _gather(self) -> None:
        """Join the networks of the runs still in progress; a single remaining run continues alone."""
        going = sorted(self.talks)
        if going != self.members:
            self._part()
            self.members = going
            learners = [self.loops[run].updater.learner for run in going]
            joinable = [learner for learner in learners if isinstance(learner, Joinable)]
            self.joint = Joint(joinable) if len(joinable) > 1 else None

    def _part(self) -> None:
        if self.joint:
            self.joint.part()
        self.joint = None

    def _tell(self, run: int, reply: Any, lacking: str | None = None) -> None:
        """Send a run its answer and receive its next request."""
        talk = self.talks[run]
        try:
            self.asks[run] = talk.send(reply) if lacking is None else talk.throw(torch.OutOfMemoryError(lacking))
            return
        except StopIteration as end:
            self.ends[run] = end.value
        except JointMatchError as error:
            if not all(loop.checkpointing for loop in self.loops):
                raise
            self.error = self.error or error
            self.stop.wanted = True  # the others save their states and stop too
        del self.talks[run]
