"""Mode full: the whole networks are trained, each with its own encoder or all sharing one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from jointmatch.data import Splits, Texts
from jointmatch.networks import (
    Joined,
    Networks,
    StackedEncoders,
    Tokenizer,
    Tokens,
    has_bf16,
    join_networks,
    tokens_per_batch,
)
from jointmatch.networks.tokens import in_batches
from jointmatch.training.ahead import Ahead, Where, can_fork
from jointmatch.training.inputs import Inputs
from jointmatch.training.learner import Joinable, Student, Weak
from jointmatch.training.views import Views
from jointmatch.types import Mixing, Mixings

TEXTS = 8  # on a GPU, batches are filled up to a multiple of this, so that few shapes occur


def autocast_dtype(
    device: torch.device, precision: Literal["auto", "fp32", "bf16"], tell: Callable[[str], None] = lambda text: None
) -> torch.dtype | None:
    """bf16 if requested, or with ``auto`` if the device supports it; None for plain fp32. Reports missing support."""
    has = has_bf16(device)
    what = "GPU" if device.type == "cuda" else "processor"
    if precision == "bf16":
        if not has:
            tell(f"This {what} has no bf16 and goes through the motions: training.precision=fp32 may be faster.")
        return torch.bfloat16
    if precision == "auto" and not has and device.type == "cuda":
        tell("This GPU has no bf16: training in fp32, which is slower.")
    return torch.bfloat16 if precision == "auto" and has else None


def background(inputs: Inputs, device: torch.device) -> Where:
    """Where inputs are prepared while the device is busy."""
    if device.type == "cpu":
        return "here"
    return "processes" if inputs.written_afresh() and can_fork() else "thread"


class FullLearner(Joinable):
    """Runs texts through whole networks; views are made anew at every step.

    ``tell`` is told what runs slower than it could.
    """

    def __init__(
        self,
        splits: Splits,
        networks: Networks,
        tokenizer: Tokenizer,
        views: Views,
        device: torch.device,
        dtype: torch.dtype | None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.splits, self.tokenizer = splits, tokenizer
        self.networks = self.model = networks.to(device)
        self.num_networks = len(networks.heads)
        self.device, self.dtype = device, dtype
        stacked = isinstance(networks.encoders, StackedEncoders)
        self._inputs_on = torch.device("cpu") if stacked else device  # a stack packs its texts before sending them
        self.labels = torch.tensor(splits.labeled.labels, device=device)
        self.pool_size = len(splits.pool)
        self._encoded: dict[str, list[list[int]]] = {}
        self._padded: dict[bytes | None, dict[tuple[int, ...], Tokens]] = {}
        self.inputs = Inputs(splits.labeled, splits.pool, views.for_networks(self.num_networks), tokenizer)
        where = background(self.inputs, device)
        if where == "processes":
            self.inputs.load()
        self._ahead = Ahead(self.inputs, where, tell)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._ahead.close()

    def student_inputs(self, ask: Student) -> list[Tokens]:
        if ask.chosen is not None:
            tokens = self.inputs.student_chosen(ask.labeled, ask.pool, ask.draw, ask.chosen)
        else:
            tokens = self._ahead.take("student", ask.labeled, ask.pool, ask.draw)
        if ask.kept is not None:  # all were prepared ahead, before it was known which are read
            rows = np.concatenate([np.arange(len(ask.labeled)), len(ask.labeled) + ask.kept])
            tokens = [own.rows(rows) for own in tokens]
        return self._sent(tokens)

    def expect_step(self) -> None:
        self._ahead.next_step()

    def expect_student(self, labeled: np.ndarray, pool: np.ndarray, draw: int) -> None:
        self._ahead.expect("student", labeled, pool, draw)

    def weak_inputs(self, ask: Weak) -> list[Tokens]:
        return self._sent(self._ahead.take("weak", ask.rows, ask.draw, ask.view, ask.part))

    def expect_weak(self, rows: np.ndarray, draw: int, view: int) -> None:
        self._ahead.expect("weak", rows, draw, view, "pool")

    def _sent(self, tokens: list[Tokens]) -> list[Tokens]:
        return [own.to(self._inputs_on) for own in tokens]

    def part_logits(self, module: nn.Module, part: str, rows: np.ndarray | None = None) -> Tensor:
        ids = self._ids(part)
        if rows is not None:
            ids = [ids[i] for i in rows]
        logits = torch.empty(self.num_networks, len(ids), self.model.heads.shape.num_classes)
        budget = tokens_per_batch(self.device)
        which = None if rows is None else rows.tobytes()
        padded = self._padded.setdefault(which, {}) if part == "dev" else None  # evaluated again and again
        with torch.no_grad(), self._autocast():
            found = list(in_batches(self.tokenizer, ids, budget, self._inputs_on, module, padded))
        for where, out in found:  # only after all were launched: else the device would wait for each transfer back
            logits[:, where] = out[..., : logits.shape[-1]].float().cpu()
        return logits

    def per_network(self) -> Sequence[Sequence[Tensor]]:
        if len(self.model.encoders) < self.num_networks:  # a shared encoder belongs to no single network
            return [list(self.model.parameters())]
        pairs = zip(self.model.encoders.per_network(), self.model.heads, strict=True)
        return [[*encoder, *head.parameters()] for encoder, head in pairs]

    def encoder_parameters(self) -> list[nn.Parameter]:
        return list(self.model.encoders.parameters())

    def stacked_parameters(self) -> list[nn.Parameter]:
        return self.model.encoders.stacked_parameters()

    def logits(
        self,
        module: nn.Module,
        inputs: list[Tokens],
        seeds: Sequence[int] | None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        most = max(len(tokens.ids) for tokens in inputs)
        grain = TEXTS if self.device.type == "cuda" and mixing is None else 1
        filled = {id(own): own.with_rows(-(-most // grain) * grain) for own in inputs}
        tokens = [filled[id(own)] for own in inputs]
        with self._autocast():
            logits: Tensor = module(tokens if len(tokens) > 1 else tokens[0], seeds, mixing)
        return logits[:, :most]

    def why_not_joined(self) -> str | None:
        stacked = isinstance(self.model.encoders, StackedEncoders)
        return None if stacked else "their networks are not stacked (network.stacked)"

    def bytes_to_train(self) -> int:
        return 5 * sum(p.nbytes for p in self.model.parameters())  # with gradient, two moments and an average

    def join(self, modules: Sequence[nn.Module]) -> Joined:
        return join_networks([module for module in modules if isinstance(module, Networks)])

    def _autocast(self) -> torch.autocast:
        # No weight is cast twice in one pass, so a cast cache is useless; captured passes could not have one anyway.
        enabled = self.dtype is not None
        return torch.autocast(self.device.type, self.dtype or torch.bfloat16, enabled=enabled, cache_enabled=False)

    def _ids(self, part: str) -> list[list[int]]:
        if part not in self._encoded:
            texts: Texts = getattr(self.splits, part)
            self._encoded[part] = self.tokenizer.encode(texts.texts)
        return self._encoded[part]
