"""What a run asks of its networks while it trains.

A run is written as if it were alone, but as a conversation: when it needs a pass or a gradient, it yields a request
and is sent the answer. So a single run can be answered on its own, and several by one pass for all of them.
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
    """Request to add the gradient of a loss to the run's parameters; has no answer."""

    loss: Tensor


@dataclass(frozen=True)
class Ready:
    """Notice that a step is about to begin: runs side by side wait for each other here; has no answer."""

    step: int


Ask = Weak | Student | Backward | Ready
T = TypeVar("T")
Conversation = Generator[Ask, Any, T]


def answer(ask: Ask, learner: Learner) -> Any:
    """Answer the request of a single run."""
    if isinstance(ask, Weak):
        with torch.no_grad():
            return learner.weak_logits(ask)
    if isinstance(ask, Student):
        return learner.student_logits(ask)
    if isinstance(ask, Backward):
        ask.loss.backward()
    return None


def alone(conversation: Conversation[T], learner: Learner) -> T:
    """Answer a single run until it ends; it is left to handle running out of memory."""
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
            lacking = str(error)  # leaving this block frees the traceback, and with it the failed pass's tensors
