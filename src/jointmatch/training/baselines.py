"""Baselines that the result has to beat: plain scikit-learn on the same frozen features."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from jointmatch.networks import Heads
from jointmatch.randomness import generator
from jointmatch.training.lite import FeatureSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEIGHBORS = 20
ALPHA = 0.8  # a point better on AG News' dev part than scikit-learn's 0.2
MOST_POOL_TEXTS = 20_000  # the cost of the neighbour graph grows with its square
BLOCK = 512  # texts whose distances to all others are in memory at once


class Spreading:
    """scikit-learn's ``LabelSpreading`` over the networks' normalised features, side by side."""

    def __init__(self, features: FeatureSet, heads: Heads, seed: int = 0, most: int = MOST_POOL_TEXTS) -> None:
        from sklearn.semi_supervised import LabelSpreading

        self.directions = Directions(features, heads)
        size = features.weak.shape[1]
        rows = np.arange(size)
        if size > most:
            rows = generator(seed, "spreading").choice(size, most, replace=False)
        x = np.concatenate([self.directions(features.labeled), self.directions(features.weak[:, rows])])
        y = np.concatenate([features.labels.cpu().numpy(), np.full(len(rows), -1)])
        neighbors = min(NEIGHBORS, max(1, (len(x) - 1) // 4))  # if all were neighbours, all would be alike
        nearest = Nearest(neighbors, features.weak.device)
        self.model = LabelSpreading(kernel=nearest, alpha=ALPHA, max_iter=100)
        with warnings.catch_warnings():  # texts that no label reaches cause a division by zero
            warnings.simplefilter("ignore")
            self.model.fit(x, y)

    def predict_proba(self, features: Tensor) -> np.ndarray:
        """(N, M, D) -> (M, C); a text that no label reaches gets the uniform distribution."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            probs = self.model.predict_proba(self.directions(features))
        return np.nan_to_num(probs, nan=1 / probs.shape[1])


class Directions:
    """The networks' features side by side, each centred on the pool and scaled to one length.

    This is done even if the heads take features as they are: otherwise all texts would lie in a narrow cone, a few of
    them close to everything.
    """

    def __init__(self, features: FeatureSet, heads: Heads) -> None:
        rows = features.weak if features.weak.shape[1] else features.labeled
        self.heads, self.centers = heads, rows.float().mean(1)

    def __call__(self, features: Tensor) -> np.ndarray:
        """(N, M, D) -> (M, N * D)."""
        with torch.no_grad():
            parts = [
                head.normalize(x) if head.scale is not None else F.normalize(x.float() - center, dim=-1)
                for head, x, center in zip(self.heads.each(), features, self.centers, strict=True)
            ]
            return torch.cat(parts, dim=-1).float().cpu().numpy()


class Nearest:
    """scikit-learn's kernel "knn", as products of large blocks: half the time on a CPU, instant on a GPU."""

    def __init__(self, count: int, device: torch.device) -> None:
        self.count, self.device = count, device

    def __call__(self, x: np.ndarray, queries: np.ndarray) -> csr_array:
        """1 where a row of ``x`` is among the nearest to a query; a query is a row for ``x`` itself, else a column."""
        from scipy.sparse import csr_array

        points, asked = (torch.from_numpy(rows).to(self.device) for rows in (x, queries))
        squares = points.square().sum(-1)
        found = [
            torch.addmm(squares, block, points.T, alpha=-2).topk(self.count, largest=False).indices.cpu()
            for block in asked.split(BLOCK)
        ]
        columns = torch.cat(found).flatten().numpy()
        starts = np.arange(0, len(columns) + 1, self.count)
        graph = csr_array((np.ones(len(columns)), columns, starts), shape=(len(queries), len(x)))
        return graph if queries is x else graph.T


class Logistic:
    """scikit-learn's ``LogisticRegression`` on the labelled texts alone, over the same features side by side."""

    def __init__(self, features: FeatureSet, heads: Heads) -> None:
        from sklearn.linear_model import LogisticRegression

        self.directions = Directions(features, heads)
        # Unit vectors: at the heads' scale the usual penalty would have hardly any effect.
        x = self.directions(features.labeled)
        self.length = float(np.linalg.norm(x, axis=-1).mean()) or 1.0  # 0 if all texts have the same features
        self.model = LogisticRegression(max_iter=1000)
        self.model.fit(x / self.length, features.labels.cpu().numpy())

    def predict_proba(self, features: Tensor) -> np.ndarray:
        """(N, M, D) -> (M, C)."""
        return self.model.predict_proba(self.directions(features) / self.length)
