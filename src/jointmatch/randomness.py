"""Randomness without state: every draw is a function of (seed, purpose, step).

Nothing has to be saved to resume a run, evaluating more often cannot shift what comes
after it, and the caller's own random streams stay as they were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def derive(seed: int, *path: str | int) -> int:
    """A 63-bit seed for one purpose, such as ``derive(0, "dropout", network, step)``."""
    key = repr([p if isinstance(p, str) else int(p) for p in (seed, *path)]).encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") >> 1


def generator(seed: int, *path: str | int) -> np.random.Generator:
    """A numpy generator for one purpose."""
    return np.random.default_rng(derive(seed, *path))


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Run a block under torch's global generator seeded with ``seed``, then restore it."""
    import torch

    cuda = device is not None and device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if cuda else []):
        torch.random.default_generator.manual_seed(seed)
        if cuda:
            torch.cuda.manual_seed(seed)
        yield
