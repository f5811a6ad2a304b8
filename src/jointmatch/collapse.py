"""Detect networks that teach each other collapsing into one class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NEARLY_ALL = 0.9  # share of the pool in one class
GREW = 0.3  # share of the pool gained by that class during training
FEWEST = 50  # minimum number of texts for comparing shares


def shares(probs: np.ndarray) -> np.ndarray:
    """Return the share of texts for which each class is the likeliest: (N, M, C) -> (C,)."""
    likeliest = probs.mean(0).argmax(-1)
    return np.bincount(likeliest, minlength=probs.shape[-1]) / len(likeliest)


def swallowed(before: np.ndarray, after: np.ndarray, classes: Sequence[object], aligns: bool) -> str | None:
    """Return a warning if one class has taken nearly all of the pool since training began, else None.

    Args:
        before: Each class's share when training began (C,).
        after: The same for the kept networks.
        classes: Names of the classes.
        aligns: Whether the method can hold its predictions to a balance.
    """
    most = int(after.argmax())
    if after[most] < NEARLY_ALL or after[most] - before[most] < GREW:
        return None
    balanced = ", or set algorithm.alignment to uniform (equally many texts of each class) or estimate"
    return (
        f"{100 * after[most]:.0f} % of the unlabelled texts are now predicted as {classes[most]!r}, up from "
        f"{100 * before[most]:.0f} % at the start of training. If your texts are not really like that, the networks "
        "have reinforced each other's mistakes: lower algorithm.unlabeled_weight"
        f"{balanced if aligns else ''}."
    )
