"""The passes of several runs combined into one: their texts side by side, their networks in one stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from jointmatch.networks import Joined
from jointmatch.training.conversation import Backward
from jointmatch.training.learner import Joinable, Student, Weak
from jointmatch.types import Mixing, Mixings


class Joint:
    """Answers requests that several runs make at the same time; each run gets its own part of the answer."""

    def __init__(self, learners: Sequence[Joinable]) -> None:
        self.learners = learners
        self._joined: dict[int, Joined] = {}  # by the id of the first run's module: its networks, or their average

    def weak(self, asks: Sequence[Weak]) -> list[Tensor]:
        """Each run's logits (N, B, C)."""
        inputs = [learner.weak_inputs(ask) for learner, ask in zip(self.learners, asks, strict=True)]
        with torch.no_grad():
            found = self._logits([ask.module for ask in asks], inputs, [ask.seeds for ask in asks])
        return [own[:, : len(ask.rows)] for own, ask in zip(found, asks, strict=True)]

    def student(self, asks: Sequence[Student]) -> list[tuple[Tensor, Tensor]]:
        """Each run's labelled and unlabelled logits, (N, B, C) each."""
        inputs = [learner.student_inputs(ask) for learner, ask in zip(self.learners, asks, strict=True)]
        modules = [learner.networks for learner in self.learners]
        found = self._logits(modules, inputs, [ask.seeds for ask in asks], self._mixing(asks))
        counts = [ask.counts for ask in asks]
        return [(own[:, :a], own[:, a : a + b]) for own, (a, b) in zip(found, counts, strict=True)]

    def backward(self, asks: Sequence[Backward]) -> None:
        """Add each loss's gradient to its own run's parameters."""
        shares = [share for joined in self._joined.values() for share in joined.graded]
        for share in shares:
            share.keep_gradient()
        torch.stack([ask.loss for ask in asks]).sum().backward()
        for share in shares:
            share.take_gradient()
        self.forget_gradients()

    def forget_gradients(self) -> None:
        """Clear the joint gradients, including those of a pass that failed."""
        for joined in self._joined.values():
            joined.module.zero_grad(set_to_none=True)

    def part(self) -> None:
        """Give each run's networks their own memory again."""
        for joined in self._joined.values():
            for shares in joined.shares:
                for share in shares:
                    share.untie()
        self._joined.clear()

    def _logits(
        self,
        modules: Sequence[nn.Module],
        inputs: Sequence[list[object]],
        seeds: Sequence[Sequence[int] | None],
        mixing: Mixings | None = None,
    ) -> list[Tensor]:
        """Each run's logits (N, B, C), where B is the largest of all runs'."""
        learner = self.learners[0]
        if id(modules[0]) not in self._joined:
            self._joined[id(modules[0])] = learner.join(modules)
        module = self._joined[id(modules[0])].module
        if module.training != modules[0].training:
            module.train(modules[0].training)
        count = learner.num_networks
        every = [own[i % len(own)] for own in inputs for i in range(count)]
        dropped = None if seeds[0] is None else [seed for own in seeds for seed in own or []]
        return list(learner.logits(module, every, dropped, mixing).split(count))

    def _mixing(self, asks: Sequence[Student]) -> Mixings | None:
        """How each network's texts are mixed; the texts of runs without mixing stay as they are."""
        if all(ask.mixing is None for ask in asks):
            return None
        longest = max(sum(ask.counts) for ask in asks)
        each = []
        for learner, ask in zip(self.learners, asks, strict=True):
            itself = torch.arange(longest, device=learner.device)
            for network in range(learner.num_networks):
                own = Mixing(itself, 1.0) if ask.mixing is None else ask.mixing.of(network)
                partner = torch.cat([own.partner, itself[len(own.partner) :]])
                each.append(replace(own, partner=partner))
        return Mixings(each)
