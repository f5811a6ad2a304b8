"""The training loop: step, evaluate, keep the best, stop, checkpoint. It knows nothing about any particular method."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from jointmatch.errors import Interrupted, TrainingError
from jointmatch.listener import Listener
from jointmatch.networks.devices import read_later
from jointmatch.randomness import generator
from jointmatch.training import checkpoints
from jointmatch.training.checkpoints import State
from jointmatch.training.conversation import Conversation, Ready, alone
from jointmatch.training.metrics import brief
from jointmatch.training.stopping import StopRequest
from jointmatch.training.updates import Updater

LOOK_EVERY = 10  # steps between finiteness checks; each result is read at the next check, long after it is ready


@dataclass
class Progress:
    """The loop's progress: all of its own state, as JSON values."""

    step: int = 0
    best_score: float = -math.inf
    best_step: int = 0
    since_best: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Trained:
    """What the loop returns besides the trained networks."""

    history: list[dict[str, Any]]
    steps: int
    best_step: int
    termination: str  # max_steps or early_stopping
    selection: str  # how the kept weights were chosen, in words
    last: dict[str, dict[str, float]] = field(default_factory=dict)  # part -> scores of the last step's weights
    logits: dict[str, Tensor] = field(default_factory=dict, compare=False, repr=False)
    """Part -> logits (N, M, C) of the kept weights, where known."""


@dataclass(frozen=True)
class Checkpointing:
    """Where the state is written, and how often."""

    path: Path
    every: int  # in steps; 0: only at the end and when stopped
    identity: str = ""  # a checkpoint is resumed only if it was written with the same identity


class Loop:
    """Runs an updater.

    Args:
        updater: Performs one step at a time; its config sets the steps, the evaluation interval and the patience.
        listener: Is told about steps and evaluations.
        truths: Class ids of ``dev``, used to choose the checkpoint, and of ``test``, which is only scored at the
            end; either may be absent.
        checkpointing: None keeps the state in memory only.
        on_evaluation: Called with the whole history after each evaluation.
        look_first: Whether the networks are useful before any training: then they are also scored before the first
            step, and kept if no step improves on them.
    """

    def __init__(
        self,
        updater: Updater,
        listener: Listener,
        truths: Mapping[str, np.ndarray] | None = None,
        checkpointing: Checkpointing | None = None,
        on_evaluation: Callable[[list[dict[str, Any]]], None] = lambda history: None,
        look_first: bool = False,
    ) -> None:
        self.updater, self.config, self.listener = updater, updater.config, listener
        self.truths = truths or {}
        self.checkpointing, self.on_evaluation, self.look_first = checkpointing, on_evaluation, look_first
        self.progress = Progress()
        self.best: State = {}
        self._asked: tuple[int, Callable[[], Tensor]] | None = None  # step, and how to read whether all was finite
        self._computed: dict[str, tuple[int, Tensor]] = {}  # part -> step, and the logits after it
        self._of_best: dict[str, Tensor] = {}  # part -> logits of the best weights, where computed

    def run(self) -> Trained:
        """Train this run alone to the end (from a loaded checkpoint if there is one) and restore the best weights."""
        with StopRequest() as stop, self.updater.learner.at_work():
            termination = alone(self.conversation(stop), self.updater.learner)
        return self.end(termination)

    def conversation(self, stop: StopRequest) -> Conversation[str]:
        """Train until there is a reason to end; return it once the state is saved."""
        self.listener.stage("training", self.config.steps)
        self.listener.advance(self.progress.step)
        if self.look_first and "dev" in self.truths and not self.progress.history and not self.progress.step:
            self._evaluate()
        # Check patience first, so that a resumed run stops where the original one would have.
        while self.progress.step < self.config.steps and not self._out_of_patience():
            yield Ready(self.progress.step)
            yield from self.updater.conversation(self.progress.step)
            self.progress.step += 1
            self.listener.advance(1)
            self._after_step()
            if stop.wanted:
                self._interrupt()
        termination = "early_stopping" if self.progress.step < self.config.steps else "max_steps"
        if self.checkpointing:
            self.save()  # not in ``end``: side by side, that is called only when the last run is done
            if stop.wanted:
                self._say_stopped()
        return termination

    def end(self, termination: str) -> Trained:
        """Restore the best weights and return the result."""
        self.listener.done()
        return self._finish(termination)

    def _out_of_patience(self) -> bool:
        return 0 < self.config.patience <= self.progress.since_best

    def _after_step(self) -> None:
        step, last = self.progress.step, self.progress.step == self.config.steps
        evaluate = last or step % self.config.evaluate_every == 0
        save = self._is_due(step, evaluate)
        if evaluate or save:
            self._insist_on_numbers()
        elif step % LOOK_EVERY == 0:
            self._watch_numbers()
        if evaluate:
            self._evaluate()
        if save:
            self.save()

    def _is_due(self, step: int, evaluate: bool) -> bool:
        """Whether a checkpoint is due; the first evaluation writes one too, so that a NaN soon after loses nothing."""
        if self.checkpointing is None or self.checkpointing.every == 0:
            return False
        return step % self.checkpointing.every == 0 or (evaluate and not self.checkpointing.path.exists())

    def _insist_on_numbers(self) -> None:
        """Fail on NaN before the weights are used for anything. Waits for the device."""
        self._asked = None
        self._stop_unless(self._all_numbers(), self.progress.step)

    def _watch_numbers(self) -> None:
        """Check for NaN between evaluations, which may be far apart, without waiting for the step just launched."""
        before, self._asked = self._asked, (self.progress.step, read_later(self._all_numbers()))
        if before is not None:
            step, read = before
            self._stop_unless(read(), step)

    def _all_numbers(self) -> Tensor:
        sizes = torch.stack(torch._foreach_norm([p.detach() for p in self.updater.learner.networks.parameters()]))
        return torch.isfinite(torch.cat([sizes.double(), self.updater.counts.loss[None]])).all()

    def _stop_unless(self, all_numbers: Tensor, step: int) -> None:
        if not all_numbers:
            saved = self.checkpointing and self.checkpointing.path
            kept = f" The state before is kept in {saved}." if saved and saved.exists() else ""
            raise TrainingError(
                f"The loss is no longer a number at step {step}.{kept} Try a lower "
                "training.learning_rate, training.clip_norm=1, or training.precision=fp32."
            )

    def _evaluate(self) -> None:
        record: dict[str, Any] = {"step": self.progress.step, **self.updater.counts.flush()}
        thresholds = self.updater.algorithm.thresholds()
        if thresholds is not None:
            record["thresholds"] = [[round(t, 6) for t in row] for row in thresholds.tolist()]
        if "dev" in self.truths:
            record |= self._score()
        self.progress.history.append(record)
        self.on_evaluation(self.progress.history)
        self.listener.evaluation(record)

    def _score(self) -> dict[str, Any]:
        module = self.updater.evaluated.eval()
        labels, rows = self.truths["dev"], self._chosen_on
        if rows is None:
            probs = self._logits("dev").softmax(-1).numpy()
        else:
            with torch.no_grad():
                some = self.updater.learner.part_logits(module, "dev", rows)
            labels, probs = labels[rows], some.softmax(-1).numpy()
        scores = {f"dev_{name}": value for name, value in brief(probs.mean(0), labels).items()}
        scores["dev_accuracy_per_network"] = [brief(p, labels)["accuracy"] for p in probs]  # type: ignore[assignment]
        score = scores["dev_accuracy"]
        # The later of two equals is kept: ties are common on a small dev part, and more training is the safer bet.
        self.progress.since_best = 0 if score > self.progress.best_score else self.progress.since_best + 1
        if score >= self.progress.best_score:
            self.progress.best_score, self.progress.best_step = score, self.progress.step
            self.best = checkpoints.module_state("best", module)
            self._of_best = {} if rows is not None else {"dev": self._logits("dev")}
        return scores

    @cached_property
    def _chosen_on(self) -> np.ndarray | None:
        """The dev rows used to choose the checkpoint; None: all."""
        size, wanted = len(self.truths["dev"]), self.config.evaluate_on
        if not 0 < wanted < size:
            return None
        return np.sort(generator(self.config.seed, "dev rows").choice(size, wanted, replace=False))

    def _logits(self, part: str) -> Tensor:
        """Logits of the weights after this step, computed once."""
        step, logits = self._computed.get(part, (None, None))
        if logits is None or step != self.progress.step:
            with torch.no_grad():
                logits = self.updater.learner.part_logits(self.updater.evaluated.eval(), part)
            self._computed[part] = self.progress.step, logits
        return logits

    def _interrupt(self) -> None:
        if self.checkpointing is None:
            raise KeyboardInterrupt
        self._insist_on_numbers()
        self.save()
        self._say_stopped()

    def _say_stopped(self) -> NoReturn:
        raise Interrupted(f"Stopped after step {self.progress.step} of {self.config.steps}; the state is saved.")

    def _finish(self, termination: str) -> Trained:
        updater = self.updater
        last = {part: brief(self._logits(part).softmax(-1).numpy().mean(0), y) for part, y in self.truths.items()}
        if self.best:
            checkpoints.load_module("best", updater.learner.networks, self.best)
            chosen, selection = self.progress.best_step, "those with the best accuracy on the dev part"
        else:
            updater.learner.networks.load_state_dict(updater.evaluated.state_dict())
            which = "the last step's, averaged over training" if updater.averaged else "the last step's"
            chosen, selection = self.progress.step, f"{which}, as there is no dev part to choose on"
        updater.learner.networks.eval()
        last_is_kept = chosen == self.progress.step
        known = {part: self._logits(part) for part in self.truths} if last_is_kept else self._of_best
        return Trained(self.progress.history, self.progress.step, chosen, termination, selection, last, known)

    def save(self) -> None:
        """Write everything that the next step depends on."""
        assert self.checkpointing is not None
        updater = self.updater
        state = {
            **checkpoints.module_state("networks", updater.learner.networks),
            **checkpoints.module_state("algorithm", updater.algorithm),
            **checkpoints.module_state("counts", updater.counts),
            **checkpoints.optimizer_state(updater.optimizer),
            **updater.initial,
            **self.best,
        }
        if updater.averaged:
            state |= checkpoints.module_state("averaged", updater.averaged.module)
        facts = {
            "identity": self.checkpointing.identity,
            "accumulate": updater.accumulate,
            "progress": vars(self.progress),
        }
        checkpoints.save_checkpoint(self.checkpointing.path, state, facts)

    def load(self) -> bool:
        """Continue from the checkpoint if there is one; refuse it if it belongs to another run."""
        if self.checkpointing is None or not self.checkpointing.path.exists():
            return False
        state, facts = checkpoints.load_checkpoint(self.checkpointing.path)
        checkpoints.check_identity(self.checkpointing.path, facts, self.checkpointing.identity)
        updater = self.updater
        checkpoints.load_module("networks", updater.learner.networks, state)
        checkpoints.load_module("algorithm", updater.algorithm, state)
        checkpoints.load_module("counts", updater.counts, state)
        checkpoints.load_optimizer(updater.optimizer, state)
        if updater.averaged:
            checkpoints.load_module("averaged", updater.averaged.module, state)
        updater.initial = {name: value for name, value in state.items() if name.startswith("initial/")}
        updater.accumulate = facts["accumulate"]
        self.progress = Progress(**facts["progress"])
        self.best = {name: value for name, value in state.items() if name.startswith("best/")}
        return True
