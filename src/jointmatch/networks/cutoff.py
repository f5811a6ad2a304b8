"""Feature cut-off (Shen et al. 2020): whole dimensions of a text are hidden while training."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def cut_features(x: Tensor, rate: float) -> Tensor:
    """Set each dimension of a text to zero with probability ``rate``, in all its tokens: (B, ..., D)."""
    shape = (x.shape[0], *([1] * (x.ndim - 2)), x.shape[-1])
    return x * (torch.rand(shape, device=x.device) >= rate)


def cut_while_training(module: nn.Module, rate: float) -> None:
    """Cut a module's output whenever the module is in training mode."""

    def cut(own: nn.Module, _inputs: Any, out: Tensor) -> Tensor:
        return cut_features(out, rate) if own.training else out

    module.register_forward_hook(cut)
