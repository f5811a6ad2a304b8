"""What was measured on which machine: records of speed lie in a folder for each."""

from __future__ import annotations

import re

from jointmatch.benchmark.store import Store


def current_machine() -> str:
    """The device that training takes here, as its maker calls it."""
    import torch

    from jointmatch.networks import find_device

    device = find_device("auto")
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def slug(machine: str) -> str:
    """The name of its folder."""
    return re.sub(r"[^A-Za-z0-9]+", "-", machine).strip("-").lower()


def machines(store: Store, what: str) -> list[str]:
    """The folders that hold records of ``what``."""
    folder = store.folder / "cells" / what
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
