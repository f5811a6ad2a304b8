"""Find the device to run on, and bring data there."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from jointmatch.errors import InputError

MEMORY = Path("/proc/meminfo")


def find_device(name: str) -> torch.device:
    """``auto``, ``cpu``, ``cuda`` or ``cuda:1``, checked."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"Unknown device {name!r}, wanted auto, cpu, cuda or cuda:N.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"The device {name!r} was asked for, but torch sees no GPU. Use device=cpu.")
    return device


def device_name(device: torch.device) -> str:
    """As its maker calls a GPU; a CPU is a cpu."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def on_device(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor of the CPU's on a device, without waiting for what is under way there."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def free_memory(device: torch.device) -> int | None:
    """Bytes that could be taken now; None where the machine does not say."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        lines = MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:  # no Linux
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)
