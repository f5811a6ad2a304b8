"""AdamW whose fused step looks nothing up: for small networks, look-ups took longer than the step itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_PLAIN_STEP = inspect.unwrap(torch.optim.AdamW.step)  # torch wraps this class's own step: hooks run only once
State = tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]  # parameters, both means, steps


class QuickAdamW(torch.optim.AdamW):
    """torch's AdamW with a faster step; the first step and anything out of the ordinary are left to torch.

    Once every parameter has its state, each group's lists are kept, and a step is one call of the fused kernel per
    group. State, settings and results are torch's.
    """

    _kept: list[State] | None = None

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters."""
        self._kept = None
        super().add_param_group(param_group)

    def load_state_dict(self, state_dict: Any) -> None:
        """Load a state."""
        self._kept = None
        super().load_state_dict(state_dict)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient."""
        gradients = [[p.grad for p in group["params"]] for group in self.param_groups]
        if len(self.state) != sum(map(len, gradients)):  # the state was cleared: training starts over
            self._kept = None
        if self._kept is None or closure is not None or any(g is None for own in gradients for g in own):
            found = _PLAIN_STEP(self, closure)
            self._kept = self._collected()
            return found
        for group, own, (parameters, means, squares, steps) in zip(
            self.param_groups, gradients, self._kept, strict=True
        ):
            torch._foreach_add_(steps, 1)
            beta1, beta2 = group["betas"]
            torch._fused_adamw_(
                parameters,
                own,
                means,
                squares,
                [],
                steps,
                lr=group["lr"],
                beta1=beta1,
                beta2=beta2,
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                amsgrad=False,
                maximize=False,
            )
        return None

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients."""
        if not set_to_none:
            super().zero_grad(set_to_none)
            return
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    def _collected(self) -> list[State] | None:
        """Each group's lists; None if some parameter has no state yet, or the fused kernel cannot be used as it is."""
        groups = self.param_groups
        odd = ("amsgrad", "maximize", "capturable", "differentiable")
        if any(not group["fused"] or any(group[name] for name in odd) for group in groups):
            return None
        if any(p not in self.state for group in groups for p in group["params"]):
            return None
        found: list[State] = []
        for group in groups:
            states = [self.state[p] for p in group["params"]]
            lists = [[state[name] for state in states] for name in ("exp_avg", "exp_avg_sq", "step")]
            found.append((list(group["params"]), *lists))  # type: ignore[arg-type]
        return found
