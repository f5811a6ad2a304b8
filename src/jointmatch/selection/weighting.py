"""How much a selected text counts: weights (N, B) from labels or masks (N, B)."""

import torch
from torch import Tensor


def uniform(selected: Tensor) -> Tensor:
    """Every text counts 1."""
    return torch.ones_like(selected, dtype=torch.float)


def label_disagreement(labels: Tensor, delta: float) -> Tensor:
    """``delta`` where a network's label differs from its neighbour's, else ``1 - delta`` (equation 4)."""
    differ = labels != labels.roll(-1, dims=0)
    return torch.where(differ, delta, 1 - delta)


def confidence_disagreement(confident: Tensor, delta: float) -> Tensor:
    """``delta`` where just one of two neighbours is confident, ``1 - delta`` where both are, else 0."""
    other = confident.roll(-1, dims=0)
    return delta * (confident ^ other) + (1 - delta) * (confident & other)


def over_selected(selected: Tensor) -> Tensor:
    """Weights that turn the mean over a batch into one over its selected texts."""
    counts = selected.sum(-1, keepdim=True).clamp(min=1)
    return (selected.shape[-1] / counts).expand(selected.shape)
