"""Find the device to run on."""

from __future__ import annotations

import os

import torch

from jointmatch.errors import InputError


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


def free_memory(device: torch.device) -> int | None:
    """Bytes that nobody uses; None where the machine does not say."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
