"""What a handful of labelled texts says about the classes, believed as far as it is more than chance.

If one class prevails, the pool's mean is that class's, and a class whose texts are alike lies farther from it than one
whose texts differ; heads that start without knowing this give half of a common class away. The labelled texts reveal
both, since each class is equally frequent among them, but they are few. So what they say is shrunk, as by James and
Stein: all of it is used where it is far above its own sampling error, none where it is not.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

SMALLEST = 1e-12


def class_means(x: Tensor, labels: Tensor, classes: int) -> Tensor:
    """(M, D) and (M,) -> (C, D); every class has a text."""
    return torch.stack([x[labels == c].mean(0) for c in range(classes)])


def believed(effect: Tensor, noise: Tensor) -> Tensor:
    """The part of a squared effect that its sampling error does not account for, from 0 to 1."""
    return torch.where(effect > noise, 1 - noise / effect, 0)


def balanced_center(pool: Tensor, labeled: Tensor, labels: Tensor, classes: int) -> Tensor:
    """The mean of (P, D) had all classes been equally frequent, as far as the labelled (M, D) can tell: (D,)."""
    center = pool.mean(0)
    counts = torch.bincount(labels, minlength=classes)
    means = class_means(labeled, labels, classes)
    more = len(labeled) - classes  # texts besides one of each class: only these tell how much texts differ
    if more <= 0:
        return center
    variance = (labeled - means[labels]).square().sum() / more
    gap = means.mean(0) - center
    return center + believed(gap.square().sum(), (variance / counts).sum() / classes**2) * gap


def squared_lengths(unit: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Squared lengths (C,) of class means of unit vectors (M, D), moved together as far as they may differ by chance.

    The sampling error is the jackknife's: how much a class's value changes when one of its texts is left out.
    """
    own = class_means(unit, labels, classes).square().sum(-1)
    errors = []
    for c in range(classes):
        texts = unit[labels == c]
        count = len(texts)
        if count > 1:
            without = ((texts.sum(0) - texts) / (count - 1)).square().sum(-1)
            errors.append((count - 1) / count * (without - without.mean()).square().sum())
    if not errors:
        return own.mean().expand(classes)
    return own.mean() + believed(own.var(), torch.stack(errors).mean()) * (own - own.mean())


def nearest_mean(features: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """The nearest-class-mean classifier: weights (C, D) of average length 1, and biases (C,) around 0.

    |x - m|^2 is smallest where x m - |m|^2 / 2 is largest; if all lengths are the same, that is the cosine.
    """
    unit = F.normalize(features, dim=-1)
    squares = squared_lengths(unit, labels, classes)
    lengths = squares.sqrt()
    usual = lengths.mean().clamp(min=SMALLEST)  # 0 if all texts have the same features
    weights = F.normalize(class_means(unit, labels, classes), dim=-1) * (lengths / usual)[:, None]
    biases = -squares / (2 * usual) * features.norm(dim=-1).mean()
    return weights, biases - biases.mean()
