"""How much a selected text counts: weights (N, B) from labels or masks (N, B) of networks and their peers."""

import torch
from torch import Tensor


def uniform(selected: Tensor) -> Tensor:
    """Every text counts 1."""
    return torch.ones_like(selected, dtype=torch.float)


def label_disagreement(labels: Tensor, peers: Tensor, delta: float | Tensor) -> Tensor:
    """``delta`` where a network's label differs from its peer's, else ``1 - delta`` (equation 4)."""
    return torch.where(labels != peers, delta, 1 - delta)


def confidence_disagreement(confident: Tensor, peers: Tensor, delta: float | Tensor) -> Tensor:
    """``delta`` where just one of network and peer is confident, ``1 - delta`` where both are, 0 elsewhere."""
    return delta * (confident ^ peers) + (1 - delta) * (confident & peers)


def mean_one(weights: Tensor, selected: Tensor) -> Tensor:
    """Weights scaled so that each network's selected texts weigh 1 on average, as with uniform weights."""
    total = (weights * selected).sum(-1, keepdim=True)
    return weights * torch.where(total > 0, selected.sum(-1, keepdim=True) / total, 1.0)


def over_selected(selected: Tensor) -> Tensor:
    """Weights that turn the mean over a batch into one over its selected texts."""
    counts = selected.sum(-1, keepdim=True).clamp(min=1)
    return (selected.shape[-1] / counts).expand(selected.shape)
