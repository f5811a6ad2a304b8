"""All of a training run's state in one safetensors file, written atomically; no pickle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from jointmatch.errors import InputError
from jointmatch.files import write_atomically
from jointmatch.tensors import save_tensors

State = dict[str, Tensor]


def module_state(prefix: str, module: nn.Module) -> State:
    """A module's tensors under a prefix, copied to the CPU."""
    return {f"{prefix}/{name}": value.detach().to("cpu", copy=True) for name, value in module.state_dict().items()}


def load_module(prefix: str, module: nn.Module, state: State) -> None:
    """The inverse of ``module_state``."""
    module.load_state_dict(_under(prefix, state))


def optimizer_state(optimizer: torch.optim.Optimizer) -> State:
    """An optimiser's tensors by parameter number."""
    per_parameter = optimizer.state_dict()["state"]
    return {
        f"optimizer/{number}/{name}": torch.as_tensor(value).detach().cpu().clone()
        for number, values in per_parameter.items()
        for name, value in values.items()
    }


def load_optimizer(optimizer: torch.optim.Optimizer, state: State) -> None:
    """The inverse of ``optimizer_state``; learning rates follow from the step."""
    per_parameter: dict[int, dict[str, Tensor]] = {}
    for path, value in _under("optimizer", state).items():
        number, name = path.split("/")
        per_parameter.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({"state": per_parameter, "param_groups": optimizer.state_dict()["param_groups"]})


def _under(prefix: str, state: State) -> State:
    return {name.removeprefix(f"{prefix}/"): v for name, v in state.items() if name.startswith(f"{prefix}/")}


def save_checkpoint(path: Path, state: State, facts: dict[str, Any]) -> None:
    """Write tensors and JSON facts as one file."""
    metadata = {"facts": json.dumps(facts)}
    write_atomically(path, lambda p: save_tensors(state, p, metadata))


def check_identity(path: Path, facts: dict[str, Any], identity: str, changed: Sequence[str] = ()) -> None:
    """Refuse a checkpoint written for other data or settings; ``changed`` names the settings that differ."""
    if facts["identity"] != identity:
        what = f"other settings ({'; '.join(changed)})" if changed else "other data or settings"
        raise InputError(
            f"{path} was written with {what}. Run the same command as before with --resume, or start anew with "
            "--overwrite."
        )


def read_facts(path: Path) -> dict[str, Any]:
    """The facts of a checkpoint, without its tensors."""
    try:
        with safe_open(path, framework="pt") as file:
            return json.loads((file.metadata() or {})["facts"])
    except (SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"The checkpoint {path} cannot be read ({error}). Start anew with --overwrite.") from None


def load_checkpoint(path: Path) -> tuple[State, dict[str, Any]]:
    """Read a checkpoint back."""
    facts = read_facts(path)
    return load_file(path), facts
