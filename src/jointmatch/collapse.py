"""Whether networks that teach each other have talked each other into one class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NEARLY_ALL = 0.9  # of the pool in one class
GREW = 0.3  # of the pool that it did not have as training began
FEWEST = 50  # texts that shares are worth comparing of


def shares(probs: np.ndarray) -> np.ndarray:
    """The share of texts that each class is the likeliest of: (N, M, C) -> (C,)."""
    likeliest = probs.mean(0).argmax(-1)
    return np.bincount(likeliest, minlength=probs.shape[-1]) / len(likeliest)


def swallowed(before: np.ndarray, after: np.ndarray, classes: Sequence[object], aligns: bool) -> str | None:
    """What to say where one class has taken nearly all of the pool since training began; None where none has.

    Args:
        before: Each class's share as training began (C,).
        after: The same of the kept networks.
        classes: Their names.
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
