"""FlexMatch's thresholds: lower for classes to which few texts of the pool are confidently assigned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from jointmatch.selection.thresholds import confident
from jointmatch.types import Step

NEVER = -1  # the label of a text that was never confident


def learning_status(counts: Tensor, never: Tensor, warm_up: bool) -> Tensor:
    """beta(c) = sigma(c) / max_c sigma(c); in warm-up, divided by the number of never-confident texts if larger.

    Args:
        counts: sigma (N, C), how many pool texts were last confidently assigned to each class.
        never: (N,), how many were never confidently assigned to any.
        warm_up: Without it, a handful of confident texts is enough for thresholds as high as at the end.
    """
    most = counts.amax(-1)
    most = torch.maximum(most, never) if warm_up else most.clamp(min=1)
    return counts / most.unsqueeze(-1)


class CurriculumThreshold(nn.Module):
    """tau(c) = tau * beta(c) / (2 - beta(c)), where each batch is judged by the state the batches before it left.

    Args:
        tau: Threshold of the class learnt best, and the confidence a label must reach to be remembered.
        num_classes: C.
        num_networks: N; each has its own memory.
        pool_size: M, the number of unlabelled texts, whose latest confident labels are remembered.
        warm_up: Whether never-confident texts hold the thresholds down.
    """

    adaptive = True
    latest: Tensor  # (N, M) class ids, NEVER at first
    status: Tensor  # (N, C), beta as used for the last batch

    def __init__(self, tau: float, num_classes: int, num_networks: int, pool_size: int, warm_up: bool) -> None:
        super().__init__()
        self.tau, self.warm_up = tau, warm_up
        self.register_buffer("latest", torch.full((num_networks, pool_size), NEVER))
        self.register_buffer("status", torch.zeros(num_networks, num_classes))

    def forward(self, probs: Tensor, step: Step) -> Tensor:
        """Compare (N, B, C) -> (N, B), and remember the confident labels for later batches."""
        counts = torch.zeros(len(probs), probs.shape[-1] + 1, device=probs.device)
        counts.scatter_add_(1, self.latest - NEVER, torch.ones_like(self.latest, dtype=counts.dtype))
        self.status.copy_(learning_status(counts[:, 1:], counts[:, 0], self.warm_up))
        self._remember(probs, step.index)
        return confident(probs, self.current())

    def _remember(self, probs: Tensor, index: Tensor) -> None:
        """Keep labels that reach tau itself. A text may be in a batch twice, so the order must not matter."""
        confidence, label = probs.max(-1)
        label = torch.where(confidence >= self.tau, label, NEVER)
        seen = torch.full_like(self.latest, NEVER).scatter_reduce(1, index.expand_as(label), label, "amax")
        self.latest.copy_(torch.where(seen == NEVER, self.latest, seen))

    def current(self) -> Tensor:
        """The thresholds in force (N, C)."""
        return self.tau * self.status / (2 - self.status)
