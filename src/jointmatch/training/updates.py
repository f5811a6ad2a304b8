"""One outer step of training: pseudo-label, forward, backward, update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from jointmatch.algorithms import Algorithm
from jointmatch.config import TrainingConfig
from jointmatch.data.batches import Batches
from jointmatch.errors import TrainingError
from jointmatch.listener import Listener
from jointmatch.networks import Averaged, decay_within, dropout_seeds
from jointmatch.networks.devices import on_device
from jointmatch.randomness import derive, generator
from jointmatch.training.checkpoints import load_module, module_state
from jointmatch.training.conversation import Backward, Conversation, alone
from jointmatch.training.learner import ChosenViews, Learner, Student, Weak
from jointmatch.training.mixing import in_every_view, mix_targets
from jointmatch.training.optimizer import build_optimizer, clip, rate_factor, set_rates
from jointmatch.training.statistics import PseudoLabelCounts
from jointmatch.types import Mixing, PseudoLabels, Step, shape_fault

NO_ROWS = np.empty(0, dtype=np.int64)
T = TypeVar("T")


class Updater:
    """Applies an algorithm's losses to a learner's networks, without knowing the internals of either.

    Forward and backward passes are requested (``conversation.py``); the update itself is the run's own.
    """

    def __init__(
        self,
        learner: Learner,
        algorithm: Algorithm,
        config: TrainingConfig,
        pool_truth: Tensor,
        listener: Listener,
    ) -> None:
        self.learner, self.algorithm, self.config, self.listener = learner, algorithm, config, listener
        self.truth = pool_truth.to(learner.device)
        self.optimizer = build_optimizer(learner, config, algorithm)
        self.initial = module_state("initial", learner.networks) if algorithm.in_rounds else {}
        self.counts = PseudoLabelCounts(algorithm.task.num_classes).to(learner.device)
        self.accumulate = config.accumulate
        self._say_if_changed()
        batch = config.batch_size or len(learner.labels)
        self.labeled = Batches(len(learner.labels), batch, config.seed, "labeled")
        self.pool = Batches(learner.pool_size, config.unlabeled_batch_size or config.mu * batch, config.seed, "pool")
        self.averaged = self._average() if config.average_decay else None

    def _average(self) -> Averaged:
        """One that keeps its start has to let go of it within the training."""
        decay, warmup = self.config.average_decay, self.config.average_warmup
        return Averaged(self.learner.networks, decay if warmup else decay_within(len(self._phase(0)), decay), warmup)

    @property
    def evaluated(self) -> nn.Module:
        """The networks that are scored and kept: the averaged ones if there are any."""
        return self.averaged.module if self.averaged else self.learner.networks

    def step(self, number: int) -> None:
        """Train this run alone on batch ``number``."""
        alone(self.conversation(number), self.learner)

    def conversation(self, number: int) -> Conversation[None]:
        """Train on batch ``number``."""
        phase = self._phase(number)
        if 0 < number == phase.start:
            self._begin_phase(number)
        self.learner.networks.train()
        set_rates(self.optimizer, rate_factor(number - phase.start, replace(self.config, steps=len(phase))))
        if number + 1 < self.config.steps:
            self._expect(number + 1)
        for turn, (labeled, pool) in enumerate(self._turns(number)):
            yield from self._update(labeled, pool, number, turn)

    def _turns(self, number: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """The labelled and unlabelled rows of each update of an outer step."""
        labeled = self.labeled[number]
        pool = self.pool[number] if self.algorithm.uses_unlabeled and self.pool.rows else NO_ROWS
        if self.config.update == "joint":
            return [(labeled, pool)]
        return [(labeled, NO_ROWS), *((NO_ROWS, part) for part in _parts(pool, self.config.mu))]

    def _expect(self, number: int) -> None:
        """Tell the learner what an upcoming step will most likely ask for."""
        self.learner.expect_step()
        chosen = self.algorithm.chooses or self.algorithm.every_view  # only the labels say which texts and views
        for turn, (labeled, pool) in enumerate(self._turns(number)):
            for i, rows in enumerate(_parts(pool, self.accumulate)):
                for view in range(self.algorithm.num_views):
                    self.learner.expect_weak(rows, self._draw(_purpose("weak", view), number, turn, i), view)
            for i, (given, others) in enumerate(self._micro_batches(labeled, pool)):
                if not (chosen and len(others)):
                    self.learner.expect_student(given, others, self._draw("strong", number, turn, i))

    def _micro_batches(
        self, labeled: np.ndarray, pool: np.ndarray, each: int = 1
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Labelled and unlabelled rows of each micro-batch; a pool text occurs ``each`` times, all in one of them."""
        given = _parts(labeled, 1 if self.algorithm.whole_labels else self.accumulate)
        ends = np.cumsum([each * len(part) for part in _parts(pool[: len(pool) // each], self.accumulate)])
        others = np.split(pool, ends[:-1]) if len(pool) else []
        return zip_longest(given, others, fillvalue=NO_ROWS)

    def _update(self, labeled: np.ndarray, pool: np.ndarray, number: int, turn: int) -> Conversation[None]:
        """One optimiser step on L_s over ``labeled`` plus w_u L_u over ``pool``; either may be empty."""
        step = self._at(pool, number, turn)
        # If a batch must not be noted twice, or the texts learnt from must be the very ones that were labelled, a
        # retry starts over from the pseudo-labels.
        anew = self.algorithm.notes_losses or self.algorithm.num_views > 1
        before = _copied(self.algorithm.state_dict()) if anew else {}
        labels: PseudoLabels | None = None

        def attempt() -> Conversation[Tensor]:
            nonlocal labels
            if len(pool) and (labels is None or anew):
                labels = yield from self._pseudo_label(pool, step, turn)
            return (yield from self._backward(labeled, pool, labels, step, turn))

        loss = yield from self._in_memory(
            attempt, len(labeled) + len(pool), lambda: self.algorithm.load_state_dict(before) if before else None
        )
        if labels is not None:
            self.counts.add_labels(labels, self.truth[step.index if labels.rows is None else labels.rows])
        if self.config.clip_norm:
            clip(self.learner.per_network(), self.config.clip_norm)
        self.optimizer.step()
        if self.averaged:
            self.averaged.update(self.learner.networks, number - self._phase(number).start)
        self.counts.add_loss(loss)

    def _at(self, pool: np.ndarray, number: int, turn: int = 0) -> Step:
        index, steps = on_device(torch.from_numpy(pool), self.learner.device), self.config.steps
        if self.config.update == "joint":
            return Step(index, number, steps)
        # The first turn is for the labelled texts.
        return Step(index, number, steps, max(turn - 1, 0), min(self.config.mu, self.pool.size))

    def _phase(self, number: int) -> range:
        """The steps over which the networks of step ``number`` are trained: all, unless the method works in rounds."""
        in_rounds = self.algorithm.in_rounds and self.pool.rows
        return self.algorithm.phase(self._at(NO_ROWS, number)) if in_rounds else range(self.config.steps)

    @torch.no_grad()
    def _begin_phase(self, number: int) -> None:
        """Show the method its networks' logits on the pool, then start over from the initial weights."""
        logits = self.learner.part_logits(self.evaluated.eval(), "pool").to(self.learner.device)
        self.algorithm.begin_phase(logits, self._at(NO_ROWS, number))
        for module in (self.learner.networks, *([self.averaged.module] if self.averaged else [])):
            load_module("initial", module, self.initial)
        self.optimizer.state.clear()

    def _pseudo_label(self, pool: np.ndarray, step: Step, turn: int) -> Conversation[PseudoLabels]:
        module = self._labeller()
        logits = yield from self._in_memory(lambda: self._weak_logits(module, pool, step, turn), len(pool))
        self.learner.networks.train()
        with torch.no_grad():
            labels = self.algorithm.pseudo_label(logits.float(), step)
        if fault := shape_fault(labels, self.learner.num_networks):
            raise TrainingError(f"{type(self.algorithm).__name__}.pseudo_label gave {fault}")
        return labels

    def _weak_logits(self, module: nn.Module, pool: np.ndarray, step: Step, turn: int) -> Conversation[Tensor]:
        """Logits (N, B, C), computed in micro-batches; (V, N, B, C) if the algorithm uses several views."""
        views = []
        for view in range(self.algorithm.num_views):
            logits = []
            for i, rows in enumerate(_parts(pool, self.accumulate)):
                purpose = _purpose("weak", view)
                seeds, draw = self._seeds(purpose, step, turn, i), self._draw(purpose, step.number, turn, i)
                logits.append((yield Weak(module, rows, seeds, draw, view)))
            views.append(torch.cat(logits, dim=1))
        return views[0] if len(views) == 1 else torch.stack(views)

    def _chosen(self, labels: PseudoLabels | None, step: Step, turn: int, part: int) -> ChosenViews | None:
        """The views named by the labels, drawn as when the labels were made."""
        if labels is None or labels.views is None:
            return None
        views = range(self.algorithm.num_views)
        return ChosenViews(
            labels.views, [self._draw(_purpose("weak", view), step.number, turn, part) for view in views]
        )

    def _learnt(self, labels: PseudoLabels | None, labeled: int) -> np.ndarray | None:
        """Whether each pool text is read by the students, (B,); None: all are. Waits for the device."""
        if labels is None or not self.config.skip_unselected or not self.algorithm.skips_unselected:
            return None
        learnt = labels.learnt.cpu().numpy()
        return learnt if labeled or learnt.any() else None  # something must be read

    def _backward(
        self,
        labeled: np.ndarray,
        pool: np.ndarray,
        labels: PseudoLabels | None,
        step: Step,
        turn: int,
    ) -> Conversation[Tensor]:
        """Accumulate the whole batch's gradient in micro-batches; return the loss summed over networks."""
        self.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=self.learner.device)
        done = 0
        each = self.algorithm.num_views if labels is not None and self.algorithm.every_view else 1
        if labels is not None and each > 1:
            labels = in_every_view(labels, each, step.index, [len(part) for part in _parts(pool, self.accumulate)])
        if labels is not None and labels.rows is not None:
            pool = labels.rows.cpu().numpy()
        learnt = self._learnt(labels, len(labeled))
        for i, (some_labeled, some_pool) in enumerate(self._micro_batches(labeled, pool, each)):
            seeds, draw = self._seeds("strong", step, turn, i) or [], self._draw("strong", step.number, turn, i)
            rows = slice(done, done + len(some_pool))
            done += len(some_pool)
            some_labels = labels.part(rows) if labels is not None and len(some_pool) else None
            mixing = self._mixing(len(some_labeled), some_labels, step, turn, i)
            chosen = self._chosen(some_labels, step, turn, i)
            kept = None if learnt is None else np.flatnonzero(learnt[rows])
            if kept is not None and some_labels is not None:
                if not len(some_labeled) and not len(kept):
                    continue
                some_labels = some_labels.part(on_device(torch.from_numpy(kept), self.learner.device))
            given, unlabeled = yield Student(some_labeled, some_pool, seeds, draw, chosen, mixing, kept)
            y = self.learner.labels[on_device(torch.from_numpy(some_labeled), self.learner.device)]
            if mixing is not None:
                y, some_labels = mix_targets(y, some_labels, mixing, self.algorithm.task.num_classes)
            losses = []
            if len(some_labeled):
                loss = self.algorithm.supervised_loss(given.float(), y, step).sum()
                if self.algorithm.learns_views:
                    views = yield from self._labeled_views(some_labeled, step, turn, i)
                    loss = loss + self.algorithm.labeled_views_loss(views, y, step).sum()
                losses.append(loss * (len(some_labeled) / len(labeled)))
            if some_labels is not None and unlabeled.shape[1]:
                loss = self.algorithm.unsupervised_loss(unlabeled.float(), some_labels, step).sum()
                losses.append(loss * (unlabeled.shape[1] / len(pool)))
            part_loss = torch.stack(losses).sum()
            yield Backward(part_loss)
            total += part_loss.detach()
        return total

    def _mixing(self, labeled: int, labels: PseudoLabels | None, step: Step, turn: int, part: int) -> Mixing | None:
        """How the texts of a micro-batch are mixed with each other, if they are."""
        rng = generator(self.config.seed, "mixing", step.number, turn, part)
        mixing = self.algorithm.mixing(labeled, labels, step, rng)
        if mixing is None or mixing.share == 1:  # nothing to mix: texts stay identical to the last bit
            return None
        return replace(mixing, partner=mixing.partner.to(self.learner.device))

    def _labeled_views(self, rows: np.ndarray, step: Step, turn: int, part: int) -> Conversation[Tensor]:
        """Logits (V, N, B, C) of every view of some labelled texts, computed as for pseudo-labels."""
        module = self._labeller()
        views = []
        for view in range(self.algorithm.num_views):
            purpose = _purpose("weak labeled", view)
            seeds, draw = self._seeds(purpose, step, turn, part), self._draw(purpose, step.number, turn, part)
            logits = yield Weak(module, rows, seeds, draw, view, "labeled")
            views.append(logits.float())
        self.learner.networks.train()
        return torch.stack(views)

    def _labeller(self) -> nn.Module:
        """The networks that make pseudo-labels, with or without dropout."""
        module = self.averaged.module if self.averaged and self.config.average_labels else self.learner.networks
        return module.train(self.config.label_dropout)

    def _seeds(self, purpose: str, step: Step, turn: int, part: int) -> list[int] | None:
        if purpose.startswith("weak") and not self.config.label_dropout:
            return None
        return dropout_seeds(self.config.seed, self.learner.num_networks, purpose, step.number, turn, part)

    def _draw(self, purpose: str, number: int, turn: int, part: int) -> int:
        return derive(self.config.seed, "views", purpose, number, turn, part)

    def _in_memory(
        self, attempt: Callable[[], Conversation[T]], texts: int, undo: Callable[[], object] = lambda: None
    ) -> Conversation[T]:
        """The result of ``attempt``, retried in smaller micro-batches each time the GPU runs out of memory.

        ``undo`` reverts what a failed attempt has changed.
        """
        while True:
            try:
                return (yield from attempt())
            except torch.OutOfMemoryError:
                pass  # leaving this block frees the traceback, and with it the failed pass's tensors
            undo()
            self._smaller_parts(texts)

    def _smaller_parts(self, texts: int) -> None:
        if self.accumulate >= texts:
            raise TrainingError("Out of GPU memory with one text at a time. Try a smaller network.max_length.")
        self.accumulate = min(self.accumulate * 2, texts)
        self.optimizer.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()
        self.listener.note(f"Out of GPU memory: going on with {self.accumulate} micro-batches per step.")
        self._say_if_changed()

    def _say_if_changed(self) -> None:
        """Warn if the loss looks at the batch as a whole, since micro-batches then change it."""
        if self.algorithm.whole_pool and self.accumulate > 1:
            name = type(self.algorithm).__name__
            self.listener.warn(f"{name} compares the texts of a batch: in micro-batches it is not quite the same rule.")


def _copied(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies on the same device: copying elsewhere would wait for it."""
    return {name: value.clone() for name, value in state.items()}


def _purpose(name: str, view: int) -> str:
    """The purpose a view is drawn for; each kind has its own random stream."""
    return name if view == 0 else f"{name} {view}"


def _parts(rows: np.ndarray, count: int) -> list[np.ndarray]:
    """At most ``count`` even parts, none of them empty."""
    return np.array_split(rows, min(count, len(rows))) if len(rows) else []
