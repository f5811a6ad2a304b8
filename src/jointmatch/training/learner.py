"""The one thing that differs between training modes: turning rows into logits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from jointmatch.networks import Joined
from jointmatch.types import Mixing, Mixings


@dataclass(frozen=True)
class ChosenViews:
    """The views an algorithm wants the student to read, exactly as it saw them itself."""

    which: Tensor  # (N, B): 0 is the weak view, 1, 2, ... are the strong ones in order
    draws: Sequence[int]  # the seed each view was drawn with, so that it is the very same text


@dataclass(frozen=True)
class Weak:
    """Request for the logits of some texts' weak views, or with ``view`` i of the i-th kind of strong views."""

    module: nn.Module  # the networks, or their average
    rows: np.ndarray
    seeds: Sequence[int] | None  # one per network, for dropout; None: no dropout
    draw: int  # seed of this pass's random views
    view: int = 0
    part: Literal["pool", "labeled"] = "pool"


@dataclass(frozen=True)
class Student:
    """Request for logits to learn from, of labelled texts' weak views and pool texts' strong views."""

    labeled: np.ndarray  # row numbers, as in ``pool``
    pool: np.ndarray
    seeds: Sequence[int]
    draw: int
    chosen: ChosenViews | None = None  # which views of the pool texts, where an algorithm chooses them
    mixing: Mixing | None = None  # how the texts, labelled ones first, are mixed with each other
    kept: np.ndarray | None = None  # indices into ``pool`` of the texts read, in views as if all were; None: all

    @property
    def counts(self) -> tuple[int, int]:
        """How many labelled and how many pool texts are read."""
        return len(self.labeled), len(self.pool if self.kept is None else self.kept)


class Learner(ABC):
    """Networks and the texts they are trained on; the loop asks it for logits by row number."""

    networks: nn.Module  # what is trained; called ``module`` below where its average may stand in
    num_networks: int
    device: torch.device
    labels: Tensor  # (labelled rows,) on the device
    pool_size: int

    def at_work(self) -> AbstractContextManager[None]:
        """The context to train the networks in."""
        return nullcontext()

    @abstractmethod
    def student_logits(self, ask: Student) -> tuple[Tensor, Tensor]:
        """Logits of the labelled and of the pool texts, (N, B, C) each."""

    @abstractmethod
    def weak_logits(self, ask: Weak) -> Tensor:
        """Logits (N, B, C)."""

    def expect_step(self) -> None:  # noqa: B027
        """Note that what is expected from now on belongs to the step after the one that is starting."""

    def expect_weak(self, rows: np.ndarray, draw: int, view: int) -> None:  # noqa: B027
        """Note that this view of some pool texts will be requested soon; it may be prepared in the meantime."""

    def expect_student(self, labeled: np.ndarray, pool: np.ndarray, draw: int) -> None:  # noqa: B027
        """Note that these texts, in views drawn at random, will be requested soon."""

    @abstractmethod
    def part_logits(self, module: nn.Module, part: str, rows: np.ndarray | None = None) -> Tensor:
        """Logits of ``dev``, ``test`` or ``pool``, whole or some rows, without dropout: (N, M, C) on the CPU.

        Only the C classes are included, whatever extra outputs the heads have while training.
        """

    @abstractmethod
    def per_network(self) -> Sequence[Sequence[Tensor]]:
        """Each network's trained parameters, to clip each network on its own; none is in two of the lists.

        For parameters that stack several networks, these are views, with views of the gradients.
        """

    @abstractmethod
    def encoder_parameters(self) -> list[nn.Parameter]:
        """The trained parameters that use the encoder's learning rate."""

    def stacked_parameters(self) -> list[nn.Parameter]:
        """The parameters that stack several networks, with one more axis than a single network's would have."""
        return []


class Joinable(Learner):
    """A learner that prepares inputs separately from running its networks, so that several runs can share a pass."""

    @abstractmethod
    def student_inputs(self, ask: Student) -> list[Any]:
        """Inputs of the labelled and then the pool texts: one per network, or one for all."""

    @abstractmethod
    def weak_inputs(self, ask: Weak) -> list[Any]:
        """Inputs of the texts: one per network, or one for all."""

    @abstractmethod
    def logits(
        self,
        module: nn.Module,
        inputs: list[Any],
        seeds: Sequence[int] | None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        """Logits (N, B, C) of this run's networks or of several runs'; B is the largest of all."""

    @abstractmethod
    def why_not_joined(self) -> str | None:
        """Why the networks cannot run as one with those of such a learner on other data, in words; None if they can."""

    @abstractmethod
    def bytes_to_train(self) -> int:
        """Approximate memory of one more run beside this one, not counting that of a step."""

    @abstractmethod
    def join(self, modules: Sequence[nn.Module]) -> Joined:
        """Join several runs' networks, or their averages, into one."""

    def student_logits(self, ask: Student) -> tuple[Tensor, Tensor]:
        logits = self.logits(self.networks, self.student_inputs(ask), ask.seeds, ask.mixing)
        return logits[:, : len(ask.labeled)], logits[:, len(ask.labeled) :]

    def weak_logits(self, ask: Weak) -> Tensor:
        return self.logits(ask.module, self.weak_inputs(ask), ask.seeds)
