"""Tensors that are rows of larger ones, so that the networks of several runs can be run as one.

Passes read the larger tensor, and gradients arrive there; a run's own modules share its memory, so the run's
optimiser, average and checkpoints work on them as if the run were alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Share:
    """A run's own tensor, and the rows of a joint tensor that hold it."""

    own: Tensor
    joint: Tensor
    rows: int | slice

    @torch.no_grad()
    def tie(self) -> None:
        """Make the own tensor use the joint tensor's memory, keeping its values."""
        self.joint[self.rows].copy_(self.own)
        self.own.data = self.joint.detach()[self.rows]

    def untie(self) -> None:
        """Give the own tensor its own memory again."""
        self.own.data = self.own.data.clone()

    def keep_gradient(self) -> None:
        """Copy the own gradient before another pass, which may write to its memory."""
        if self.own.grad is not None:
            self.own.grad = self.own.grad.clone()

    def take_gradient(self) -> None:
        """Add the joint gradient's rows to the own gradient, as the run's own backward pass would."""
        if self.joint.grad is not None:
            part = self.joint.grad[self.rows]
            self.own.grad = part if self.own.grad is None else self.own.grad + part


@dataclass(frozen=True)
class Joined:
    """Modules of several runs as one, and each run's shares of it."""

    module: nn.Module
    shares: Sequence[list[Share]] = field(default_factory=list)

    @cached_property
    def graded(self) -> list[Share]:
        """The shares that get gradients."""
        return [share for own in self.shares for share in own if share.joint.requires_grad]

    def __post_init__(self) -> None:
        for own in self.shares:
            for share in own:
                share.tie()


def row_shares(joint: nn.Module, owns: Sequence[nn.Module]) -> list[list[Share]]:
    """Shares of a joint module whose parameters are the modules' own ones of the same name, end to end."""
    shares: list[list[Share]] = [[] for _ in owns]
    for name, parameter in joint.named_parameters():
        parts = [own.get_parameter(name) for own in owns]
        once = len(parameter) < sum(map(len, parts))  # frozen and the same in all: held once
        start = 0
        for shared, part in zip(shares, parts, strict=True):
            shared.append(Share(part, parameter, slice(start, start + len(part))))
            start += 0 if once else len(part)
    return shares
