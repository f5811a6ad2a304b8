"""The task-specific part of a network: from features (N, B, D) to logits (N, B, C)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jointmatch.networks.class_means import balanced_center, nearest_mean
from jointmatch.networks.cutoff import cut_features
from jointmatch.networks.mixing import mix
from jointmatch.networks.noise import Noise, Rates, hashed_noise
from jointmatch.randomness import derive, seeded
from jointmatch.types import Mixing

Kind = Literal["linear", "mlp", "cosine"]


@dataclass(frozen=True)
class HeadShape:
    """What is needed to rebuild a head; the weights come from a file."""

    width: int
    num_classes: int
    kind: Kind = "linear"
    dropout: float = 0.1
    scale: float | None = None  # None: features are used as they are
    cutoff: float = 0.0  # share of the dimensions hidden from each text while training
    extra: int = 0  # outputs besides the classes, only while training
    kinds: Sequence[Kind] | None = None  # one per network, in turn, instead of ``kind``
    cosine_scale: float = 20.0

    @property
    def outputs(self) -> int:
        """The number of outputs while training."""
        return self.num_classes + self.extra

    @property
    def rates(self) -> Rates:
        """How much is dropped while training."""
        return Rates(self.dropout, self.cutoff)

    def of_network(self, network: int) -> HeadShape:
        """One network's own shape."""
        return replace(self, kind=self.kinds[network % len(self.kinds)], kinds=None) if self.kinds else self


class Cosine(nn.Linear):
    """``scale`` times the cosine of a feature with each class's vector, a row of ``weight``."""

    def __init__(self, width: int, num_classes: int, scale: float) -> None:
        super().__init__(width, num_classes, bias=False)
        self.scale = scale

    def forward(self, features: Tensor) -> Tensor:
        """(B, D) -> (B, C)."""
        return self.scale * F.linear(F.normalize(features, dim=-1), F.normalize(self.weight, dim=-1))


class Head(nn.Module):
    """Normalise (if asked), drop out, classify.

    Normalising subtracts ``center`` (the pool's mean feature), scales to unit length and
    multiplies by ``scale``: sentence features crowd into a narrow cone, and without
    this a linear head sees little of their differences.
    """

    center: Tensor  # (D,)

    def __init__(self, shape: HeadShape) -> None:
        super().__init__()
        self.scale, self.cutoff = shape.scale, shape.cutoff
        self.dropout = nn.Dropout(shape.dropout)
        self.register_buffer("center", torch.zeros(shape.width))
        hidden = [nn.Linear(shape.width, shape.width), nn.GELU(), nn.Dropout(shape.dropout)]
        self.hidden = nn.Sequential(*(hidden if shape.kind == "mlp" else []))
        self.classify: nn.Linear = (
            Cosine(shape.width, shape.outputs, shape.cosine_scale)
            if shape.kind == "cosine"
            else nn.Linear(shape.width, shape.outputs)
        )

    def normalize(self, features: Tensor) -> Tensor:
        """(B, D) -> (B, D)."""
        if self.scale is None:
            return features
        return self.scale * F.normalize(features.float() - self.center, dim=-1)

    def forward(self, features: Tensor, mixing: Mixing | None = None, noise: Noise | None = None) -> Tensor:
        """(B, D) -> (B, C); with ``mixing``, the texts' normalised features are mixed with each other.

        While training, dropout is given as ``noise`` or drawn from torch's stream.
        """
        normal = self.normalize(features)
        if mixing is not None:
            normal = mix(normal, mixing)
        if noise is not None:
            return self._noisy(normal, noise)
        if self.training and self.cutoff:
            normal = cut_features(normal, self.cutoff)
        return self.classify(self.hidden(self.dropout(normal)))

    def _noisy(self, x: Tensor, noise: Noise) -> Tensor:
        if noise.features is not None:
            x = x * noise.features
        if len(self.hidden):
            x = self.hidden[:-1](x)
            if noise.hidden is not None:
                x = x * noise.hidden
        return self.classify(x)


class Heads(nn.ModuleList):
    """N heads, differently initialised, each with its own dropout stream."""

    def __init__(self, shape: HeadShape, count: int, seed: int = 0) -> None:
        heads = []
        for network in range(count):
            with seeded(derive(seed, "head", network)):
                heads.append(Head(shape.of_network(network)))
        super().__init__(heads)
        self.shape = shape

    def each(self) -> list[Head]:
        """The heads, with their type."""
        return [head for head in self if isinstance(head, Head)]

    def forward(
        self,
        features: Tensor | Sequence[Tensor],
        seeds: Sequence[int] | Tensor | None = None,
        mixing: Mixing | None = None,
    ) -> Tensor:
        """(N, B, D) -> (N, B, C).

        Args:
            features: Those of each network.
            seeds: One per network if dropout is on, to draw from torch's stream; or their ``seed_words``, from which
                dropout is then hashed, as in stacked encoders.
            mixing: How the texts are mixed with each other.
        """
        own = [None if mixing is None else mixing.of(i) for i in range(len(self))]
        if not self.training or seeds is None:
            return torch.stack([head(x, mixed) for head, x, mixed in zip(self, features, own, strict=True)])
        if isinstance(seeds, Tensor):
            noise = hashed_noise(self.shape.rates, features[0].shape, seeds)
            pairs = enumerate(zip(self, features, own, strict=True))
            return torch.stack([head(x, mixed, noise.of(i)) for i, (head, x, mixed) in pairs])
        logits = []
        for head, x, mixed, seed in zip(self, features, own, seeds, strict=True):
            with seeded(seed, x.device):
                logits.append(head(x, mixed))
        return torch.stack(logits)

    @torch.no_grad()
    def drop_extra(self) -> None:
        """Keep only the outputs of the classes."""
        count = self.shape.num_classes
        self.shape = replace(self.shape, extra=0)
        for head in self.each():
            last = head.classify
            last.weight = nn.Parameter(last.weight[:count].clone())
            if last.bias is not None:
                last.bias = nn.Parameter(last.bias[:count].clone())
            last.out_features = count

    @torch.no_grad()
    def center_on(self, features: Tensor) -> None:
        """Make normalising subtract the mean of (N, M, D)."""
        for head, x in zip(self.each(), features, strict=True):
            head.center.copy_(x.mean(0))

    @torch.no_grad()
    def center_between(self, pool: Tensor, labeled: Tensor, labels: Tensor) -> None:
        """Subtract the mean of (N, P, D) had the classes been equally frequent, as far as (N, M, D) can tell."""
        for head, x, own in zip(self.each(), pool, labeled, strict=True):
            head.center.copy_(balanced_center(x.float(), own.float(), labels, self.shape.num_classes))

    @torch.no_grad()
    def start_at_means(self, features: Tensor, labels: Tensor, scale: float) -> None:
        """Add ``scale`` times the nearest-class-mean classifier of (N, M, D) to the random initial weights."""
        for head, x in zip(self.each(), features, strict=True):
            if len(head.hidden):  # its last layer does not read the features
                continue
            classes = self.shape.num_classes
            weights, biases = nearest_mean(head.normalize(x).float(), labels, classes)
            head.classify.weight[:classes] += scale * weights
            if head.classify.bias is not None:
                head.classify.bias[:classes] += scale * biases

    @torch.no_grad()
    def start_at_prototypes(self, features: Tensor, labels: Tensor, scale: float) -> None:
        """Add ``scale`` times each class's mean unit feature (N, M, D) to the last layer's weights.

        The random initial weights stay underneath, so that heads reading the same features still differ.
        """
        for head, x in zip(self.each(), features, strict=True):
            if len(head.hidden):  # its last layer does not read the features
                continue
            unit = F.normalize(head.normalize(x), dim=-1)
            for c in range(self.shape.num_classes):
                prototype = F.normalize(unit[labels == c].mean(0), dim=-1)
                head.classify.weight[c] += scale * prototype

    @torch.no_grad()
    def start_at_words(self, words: Tensor) -> None:
        """Use the features of the classes' words (N, C, D) as the class vectors of the cosine heads.

        Words alone lie apart from whole texts, so their own mean is subtracted, not the texts'.
        """
        for head, x in zip(self.each(), words, strict=True):
            if isinstance(head.classify, Cosine):
                head.classify.weight.copy_(F.normalize(x - x.mean(0), dim=-1))


def dropout_seeds(seed: int, count: int, *path: str | int) -> list[int]:
    """One seed per network for one pass of one step."""
    return [derive(seed, "dropout", network, *path) for network in range(count)]
