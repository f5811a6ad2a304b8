"""What a run asks of its networks while it trains.

A run is written as if it were alone, but as a conversation: where it needs a pass or a gradient it yields what it
asks for and is given the answer. So one run can be answered by itself, and several by one pass for all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from jointmatch.training.learner import ChosenViews, Learner
from jointmatch.types import Mixing


@dataclass(frozen=True)
class Weak:
    """Logits of some texts in one view, without gradient (N, B, C); see ``Learner.weak_logits``."""

    module: nn.Module
    rows: np.ndarray
    seeds: Sequence[int] | None
    draw: int
    view: int = 0
    part: Literal["pool", "labeled"] = "pool"


@dataclass(frozen=True)
class Student:
    """Logits to learn from, of labelled and pool texts (N, B, C) each; see ``Learner.student_logits``."""

    labeled: np.ndarray
    pool: np.ndarray
    seeds: Sequence[int]
    draw: int
    chosen: ChosenViews | None = None
    mixing: Mixing | None = None
    kept: np.ndarray | None = None

    @property
    def counts(self) -> tuple[int, int]:
        """How many labelled and how many pool texts are read."""
        return len(self.labeled), len(self.pool if self.kept is None else self.kept)


@dataclass(frozen=True)
class Backward:
    """The gradient of a loss, added to what the run's parameters have; no answer."""

    loss: Tensor


@dataclass(frozen=True)
class Ready:
    """About to take a step: runs that go side by side wait for each other here; no answer."""

    step: int


Ask = Weak | Student | Backward | Ready
T = TypeVar("T")
Conversation = Generator[Ask, Any, T]


def answer(ask: Ask, learner: Learner) -> Any:
    """What a run is told that is asked for by itself."""
    if isinstance(ask, Weak):
        with torch.no_grad():
            return learner.weak_logits(ask.module, ask.rows, ask.seeds, ask.draw, ask.view, ask.part)
    if isinstance(ask, Student):
        return learner.student_logits(ask.labeled, ask.pool, ask.seeds, ask.draw, ask.chosen, ask.mixing, ask.kept)
    if isinstance(ask, Backward):
        ask.loss.backward()
    return None


def alone(conversation: Conversation[T], learner: Learner) -> T:
    """Answer a run by itself until it ends; memory that does not suffice is the run's to deal with."""
    reply: Any = None
    lacking: str | None = None
    while True:
        try:
            ask = conversation.send(reply) if lacking is None else conversation.throw(torch.OutOfMemoryError(lacking))
        except StopIteration as end:
            return end.value
        reply = lacking = None
        try:
            reply = answer(ask, learner)
        except torch.OutOfMemoryError as error:
            lacking = str(error)  # once out of this block the traceback, and with it the failed pass's tensors, is gone
