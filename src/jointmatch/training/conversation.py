"""What a run asks of its networks while it trains.

A run is written as if it were alone, but as a conversation: where it needs a pass or a gradient it yields what it
asks for and is given the answer. So one run can be answered by itself, and several by one pass for all of them.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from jointmatch.training.learner import Learner, Student, Weak


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
            return learner.weak_logits(ask)
    if isinstance(ask, Student):
        return learner.student_logits(ask)
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
