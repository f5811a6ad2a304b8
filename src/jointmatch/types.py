"""Records passed between stages. N networks, B texts, C classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

Label = str | int | float | bool
"""A class as the user wrote it."""

NETWORKS_ALONE = "networks_alone"
"""Name of the result without its word reader: shown beside the baselines, but not one of them."""


CROSS_VALIDATION = "cross-validation"
"""Stands where a part's name would, for the labelled texts left out in turn."""


def balance_of(labels: Iterable[int], num_classes: int) -> tuple[float, ...]:
    """Return the share of each class among the labels."""
    counts = Counter(labels)
    return tuple(counts[c] / max(counts.total(), 1) for c in range(num_classes))


@dataclass(frozen=True)
class Task:
    """What an algorithm may know about the problem before the first step."""

    num_classes: int
    num_networks: int = 1
    pool_size: int = 0
    labeled_balance: tuple[float, ...] = ()  # share of each class among the labelled texts
    seed: int = 0  # for whatever the method draws at random
    cosine_scale: float = 20.0  # logits of cosine heads are this times the cosine


@dataclass(frozen=True)
class Step:
    """Where training stands when a batch of unlabelled texts arrives."""

    index: Tensor  # (B,) position of each text in the unlabelled pool
    number: int = 0
    total: int = 1
    turn: int = 0  # index among the batches of one step, where each is an update of its own
    turns: int = 1  # number of such batches per step

    @property
    def batch(self) -> int:
        """Number of batches before this one, in this step and all earlier ones."""
        return self.number * self.turns + self.turn

    @property
    def progress(self) -> float:
        """Fraction of training that is done: 0 at the first step."""
        return self.number / self.total


@dataclass(frozen=True)
class PseudoLabels:
    """What each network learns from one unlabelled batch."""

    targets: Tensor  # (N, B) class ids, or (N, B, C) distributions
    selected: Tensor  # (N, B) bool, whether the text is used
    weights: Tensor  # (N, B) weight of the text if it is used
    rows: Tensor | None = None  # (B,) pool indices of the texts these labels are for, if not the batch's own
    views: Tensor | None = None  # (N, B) the view the student reads: 0 for weak, 1.. for the strong ones in turn

    @property
    def learnt(self) -> Tensor:
        """(B,) bool, whether some network learns from the text."""
        return (self.selected & (self.weights != 0)).any(0)

    def part(self, rows: slice | Tensor) -> PseudoLabels:
        """Return the labels of some of the batch's texts, given by a slice or by indices."""
        own = None if self.rows is None else self.rows[rows]
        views = None if self.views is None else self.views[:, rows]
        return PseudoLabels(self.targets[:, rows], self.selected[:, rows], self.weights[:, rows], own, views)


def shape_fault(labels: object, networks: int) -> str | None:
    """Say what is wrong with an algorithm's output, perhaps a user's own, and what was wanted; None if nothing is."""
    if not isinstance(labels, PseudoLabels):
        return f"a {type(labels).__name__}, wanted PseudoLabels."
    parts = {"targets": labels.targets, "selected": labels.selected, "weights": labels.weights}
    shapes = [tuple(part.shape) for part in parts.values()]
    if len(shapes[0]) in (2, 3) and shapes[0][0] == networks and shapes[1] == shapes[2] == shapes[0][:2]:
        return None
    got = ", ".join(f"{what} {shape}" for what, shape in zip(parts, shapes, strict=True))
    rows = f"a row for each of {networks} networks and a column for each text"
    return f"{got}, wanted {rows}; targets that are distributions have the classes behind these."


@dataclass(frozen=True)
class Mixing:
    """How the texts of a batch, labelled ones first, are mixed with each other.

    Text i becomes share * text i + (1 - share) * text partner(i), in its hidden states and in its target alike.
    """

    partner: Tensor  # (N, B) position in the batch, or (B,) for one network
    share: float
    depth: float = 1.0  # where in the encoder, as a share of the layers that are read

    def of(self, network: int) -> Mixing:
        """Return the mixing for one network."""
        return Mixing(self.partner[network], self.share, self.depth)


@dataclass(frozen=True)
class Mixings:
    """One mixing per network, for networks that do not all mix alike, such as those of several runs."""

    each: Sequence[Mixing]  # one per network

    def of(self, network: int) -> Mixing:
        """Return the mixing for one network."""
        return self.each[network]
