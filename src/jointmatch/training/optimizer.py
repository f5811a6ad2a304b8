"""AdamW with a separate learning rate for the heads, warm-up and a schedule that is a function of the step."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from jointmatch.algorithms import Algorithm
from jointmatch.config import TrainingConfig
from jointmatch.training.adamw import QuickAdamW
from jointmatch.training.learner import Learner


def build_optimizer(learner: Learner, config: TrainingConfig, algorithm: Algorithm | None = None) -> torch.optim.AdamW:
    """AdamW over the encoder, the heads and what the algorithm itself learns, each with and without weight decay.

    Biases and norms have no weight decay.
    """
    encoder = {id(p) for p in learner.encoder_parameters()}
    stacked = {id(p) for p in learner.stacked_parameters()}
    trained = [p for p in learner.networks.parameters() if p.requires_grad]
    head_rate = config.head_learning_rate or config.learning_rate
    own = list(algorithm.parameters()) if algorithm is not None else []
    groups = []
    for parameters, rate in (
        ([p for p in trained if id(p) in encoder], config.learning_rate),
        ([p for p in trained if id(p) not in encoder], head_rate),
        (own, algorithm.learning_rate if algorithm is not None else 0.0),
    ):
        for decayed in (True, False):
            chosen = [p for p in parameters if (p.ndim - (id(p) in stacked) > 1) is decayed]
            if chosen:
                decay = config.weight_decay if decayed else 0.0
                groups.append({"params": chosen, "lr": rate, "base_lr": rate, "weight_decay": decay})
    fused = learner.device.type == "cuda"
    return QuickAdamW(groups, eps=config.adam_epsilon, fused=fused)


def rate_factor(step: int, config: TrainingConfig) -> float:
    """The share of the base rate at a step: warm-up from zero, then constant or linear decay."""
    if step < config.warmup_steps:
        return (step + 1) / config.warmup_steps
    if config.schedule == "constant":
        return 1.0
    left = max(config.steps - config.warmup_steps, 1)
    return 1.0 - (1.0 - config.final_rate) * (step - config.warmup_steps) / left


def set_rates(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Scale every group's base rate."""
    for group in optimizer.param_groups:
        group["lr"] = group["base_lr"] * factor


def clip(per_network: Sequence[Sequence[Tensor]], norm: float) -> None:
    """Clip each network's gradient on its own: one network's spike must not slow down another."""
    if norm > 0:
        for parameters in per_network:
            torch.nn.utils.clip_grad_norm_(parameters, norm)
