"""Pseudo-label counts between two evaluations, kept on the device without waiting for it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from jointmatch.types import PseudoLabels

BATCHES = 16  # counted at once: one by one, they would launch many small kernels


class PseudoLabelCounts(nn.Module):
    """How many pseudo-labels were given, how often the networks agreed, and how many were right where that is known."""

    seen: Tensor
    agreed: Tensor
    loss: Tensor
    steps: Tensor
    selected: Tensor  # (C,) by pseudo-label
    checked: Tensor  # (C,) of these, how many have a known true label
    correct: Tensor  # (C,)

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        for name in ("seen", "agreed", "loss", "steps"):
            self.register_buffer(name, torch.zeros((), dtype=torch.float64))
        for name in ("selected", "checked", "correct"):
            self.register_buffer(name, torch.zeros(num_classes, dtype=torch.float64))
        # Targets, selected and truth of batches not counted yet.
        self._waiting: list[tuple[Tensor, Tensor, Tensor]] = []
        self.register_state_dict_pre_hook(_count_before)

    def add_labels(self, labels: PseudoLabels, truth: Tensor) -> None:
        """Add one batch; ``truth`` (B,) is negative where the true label is unknown."""
        if self._waiting and _kind(self._waiting[0][0]) != _kind(labels.targets):
            self._count()
        self._waiting.append((labels.targets, labels.selected, truth))
        if len(self._waiting) >= BATCHES:
            self._count()

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self._waiting.clear()
        super()._load_from_state_dict(*args, **kwargs)

    def _count(self) -> None:
        """Count the waiting batches."""
        if not self._waiting:
            return
        each, chosen, truths = zip(*self._waiting, strict=True)
        self._waiting.clear()
        targets, truth = torch.cat(each, 1), torch.cat(truths)
        targets = targets.argmax(-1) if targets.dtype.is_floating_point else targets
        real = targets < len(self.selected)  # an extra class can never be right
        self.seen += targets.numel()
        self.agreed += (targets == targets[:1]).all(0).sum() * len(targets)
        selected = torch.cat(chosen, 1) & real
        known = (selected & (truth >= 0)).double()
        flat = targets.clamp(max=len(self.selected) - 1).flatten()
        self.selected.index_add_(0, flat, selected.double().flatten())
        self.checked.index_add_(0, flat, known.flatten())
        self.correct.index_add_(0, flat, (known * (targets == truth)).flatten())

    def add_loss(self, loss: Tensor) -> None:
        """Count one step's loss."""
        self.loss += loss.detach()
        self.steps += 1

    def flush(self) -> dict[str, Any]:
        """Return the means since the last flush and start over."""
        self._count()
        record: dict[str, Any] = {}
        if self.steps > 0:
            record["loss"] = float(self.loss / self.steps)
        if self.seen > 0:
            record["selected"] = float(self.selected.sum() / self.seen)
            record["agreement"] = float(self.agreed / self.seen)
            record["selected_per_class"] = (self.selected / self.seen).tolist()
        if self.checked.sum() > 0:
            record["pseudo_label_accuracy"] = float(self.correct.sum() / self.checked.sum())
            rates = (self.correct / self.checked.clamp(min=1)).tolist()
            counts = self.checked.tolist()
            record["pseudo_label_accuracy_per_class"] = [r if n else None for r, n in zip(rates, counts, strict=True)]
        for buffer in self.buffers():
            buffer.zero_()
        return record


def _kind(targets: Tensor) -> tuple[int, int]:
    """What batches counted at once must share: class ids or distributions, and the number of networks."""
    return targets.ndim, len(targets)


def _count_before(module: nn.Module, *_: Any) -> None:
    """Neither a method nor a closure, so that a copy counts its own batches."""
    assert isinstance(module, PseudoLabelCounts)
    module._count()
