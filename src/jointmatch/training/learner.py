"""The one thing that ways of training do differently: turning rows into logits."""

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
    """The views an algorithm wants the student to read, as it saw them itself."""

    which: Tensor  # (N, B) 0 the weak view, 1.. the strong ones in turn
    draws: Sequence[int]  # the seed each of them was drawn with, so that it is the very same text


@dataclass(frozen=True)
class Weak:
    """Logits of some texts' weak views are wanted, or with ``view`` i of the i-th kind of strong ones."""

    module: nn.Module  # the networks, or their average
    rows: np.ndarray
    seeds: Sequence[int] | None  # one per network, for dropout; None: without
    draw: int  # seed of the random views of this very pass
    view: int = 0
    part: Literal["pool", "labeled"] = "pool"


@dataclass(frozen=True)
class Student:
    """Logits to learn from are wanted, of labelled texts' weak views and pool texts' strong ones."""

    labeled: np.ndarray  # row numbers, as are those of the pool
    pool: np.ndarray
    seeds: Sequence[int]
    draw: int
    chosen: ChosenViews | None = None  # which views of the pool texts, where an algorithm chooses them
    mixing: Mixing | None = None  # how the texts, labelled ones first, are mixed with each other
    kept: np.ndarray | None = None  # places in ``pool`` of the texts that are read, in views as if all were; None: all

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
        """What holds while the networks are trained."""
        return nullcontext()

    @abstractmethod
    def student_logits(self, ask: Student) -> tuple[Tensor, Tensor]:
        """Of the labelled and of the pool texts: (N, B, C) each."""

    @abstractmethod
    def weak_logits(self, ask: Weak) -> Tensor:
        """(N, B, C)."""

    def expect_step(self) -> None:  # noqa: B027
        """Hear that what is expected from here on is of another step, the one after that which begins now."""

    def expect_weak(self, rows: np.ndarray, draw: int, view: int) -> None:  # noqa: B027
        """Hear that this view of some pool texts will be asked for soon; it may be prepared meanwhile."""

    def expect_student(self, labeled: np.ndarray, pool: np.ndarray, draw: int) -> None:  # noqa: B027
        """Hear that these texts, in views drawn at random, will be asked for soon."""

    @abstractmethod
    def part_logits(self, module: nn.Module, part: str, rows: np.ndarray | None = None) -> Tensor:
        """Logits of ``dev``, ``test`` or ``pool``, whole or some rows, without dropout: (N, M, C) on the CPU.

        Of the C classes alone, whatever else the heads may learn while training.
        """

    @abstractmethod
    def per_network(self) -> Sequence[Sequence[Tensor]]:
        """Each network's share of the trained parameters, to clip each on its own; none in two of the lists.

        Of parameters that several networks are stacked in, these are views with views of the gradients.
        """

    @abstractmethod
    def encoder_parameters(self) -> list[nn.Parameter]:
        """The trained parameters that take the encoder's learning rate."""

    def stacked_parameters(self) -> list[nn.Parameter]:
        """The parameters that hold several networks, with an axis more than one network's own would have."""
        return []


class Joinable(Learner):
    """A learner that makes what its networks read, and then asks them: others' can be asked at the same time."""

    @abstractmethod
    def student_inputs(self, ask: Student) -> list[Any]:
        """What each network reads of the labelled and then the pool texts, or what all of them do."""

    @abstractmethod
    def weak_inputs(self, ask: Weak) -> list[Any]:
        """What each network reads of the texts, or what all of them do."""

    @abstractmethod
    def logits(
        self,
        module: nn.Module,
        inputs: list[Any],
        seeds: Sequence[int] | None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        """(N, B, C), of the run's own networks or of several runs'; where B differs the largest."""

    @abstractmethod
    def why_not_joined(self) -> str | None:
        """What keeps the networks from being run as one with those of the same learner over other data, in words."""

    @abstractmethod
    def bytes_to_train(self) -> int:
        """Memory that one more run beside this one takes, roughly, besides that of a step."""

    @abstractmethod
    def join(self, modules: Sequence[nn.Module]) -> Joined:
        """Several runs' networks, or their averages, as one."""

    def student_logits(self, ask: Student) -> tuple[Tensor, Tensor]:
        logits = self.logits(self.networks, self.student_inputs(ask), ask.seeds, ask.mixing)
        return logits[:, : len(ask.labeled)], logits[:, len(ask.labeled) :]

    def weak_logits(self, ask: Weak) -> Tensor:
        return self.logits(ask.module, self.weak_inputs(ask), ask.seeds)
