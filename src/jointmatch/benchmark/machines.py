"""Which machine something was measured on: speed records have one folder per machine."""

from __future__ import annotations

import os
import platform
import re
from typing import TYPE_CHECKING, Any

from jointmatch.benchmark.store import Store

if TYPE_CHECKING:
    import torch


def current_machine() -> str:
    """The device used for training here, as its maker calls it."""
    from jointmatch.networks import device_name, find_device

    return device_name(find_device("auto"))


def machine(device: torch.device) -> dict[str, Any]:
    """Facts about the machine something was measured on."""
    import torch

    from jointmatch.networks import device_name

    name = device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    return {"device": name, "cores": os.cpu_count(), "python": platform.python_version(), "torch": torch.__version__}


def slug(machine: str) -> str:
    """The name of a machine's folder."""
    return re.sub(r"[^A-Za-z0-9]+", "-", machine).strip("-").lower()


def machines(store: Store, what: str) -> list[str]:
    """The folders that hold records of ``what``."""
    folder = store.folder / "cells" / what
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
