"""What the result has to beat: plain scikit-learn on the same frozen features."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from jointmatch.networks import Heads
from jointmatch.randomness import generator
from jointmatch.training.lite import FeatureSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEIGHBORS = 20
ALPHA = 0.8  # on AG News' dev part a point better than scikit-learn's 0.2
MOST_POOL_TEXTS = 20_000  # the neighbour graph grows with the square of it
BLOCK = 512  # texts whose distances to all others are in memory at once


class Spreading:
    """scikit-learn's ``LabelSpreading`` over the networks' normalised features, side by side."""

    def __init__(self, features: FeatureSet, heads: Heads, seed: int = 0, most: int = MOST_POOL_TEXTS) -> None:
        from sklearn.semi_supervised import LabelSpreading

        self.heads = heads
        size = features.weak.shape[1]
        rows = np.arange(size)
        if size > most:
            rows = generator(seed, "spreading").choice(size, most, replace=False)
        x = np.concatenate([flat_features(features.labeled, heads), flat_features(features.weak[:, rows], heads)])
        y = np.concatenate([features.labels.cpu().numpy(), np.full(len(rows), -1)])
        neighbors = min(NEIGHBORS, max(1, (len(x) - 1) // 4))  # where all are neighbours all are alike
        nearest = Nearest(neighbors, features.weak.device)
        self.model = LabelSpreading(kernel=nearest, alpha=ALPHA, max_iter=100)
        with warnings.catch_warnings():  # texts no label reaches divide by zero
            warnings.simplefilter("ignore")
            self.model.fit(x, y)

    def predict_proba(self, features: Tensor) -> np.ndarray:
        """(N, M, D) -> (M, C); a text no label reaches gets the uniform distribution."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            probs = self.model.predict_proba(flat_features(features, self.heads))
        return np.nan_to_num(probs, nan=1 / probs.shape[1])


class Nearest:
    """scikit-learn's kernel "knn", by products of large blocks: in half the time on a CPU, at once on a GPU."""

    def __init__(self, count: int, device: torch.device) -> None:
        self.count, self.device = count, device

    def __call__(self, x: np.ndarray, queries: np.ndarray) -> csr_array:
        """1 where one of ``x`` is among the nearest to a query: the graph of ``x`` itself by rows, else by columns."""
        from scipy.sparse import csr_array

        centre = x.mean(0)  # far from it single precision would not tell near from nearer
        points, asked = (torch.from_numpy(rows - centre).to(self.device) for rows in (x, queries))
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

        self.heads = heads
        # Unit vectors: under the heads' scale the usual penalty would hardly be felt.
        x = flat_features(features.labeled, heads)
        self.length = float(np.linalg.norm(x, axis=-1).mean())
        self.model = LogisticRegression(max_iter=1000)
        self.model.fit(x / self.length, features.labels.cpu().numpy())

    def predict_proba(self, features: Tensor) -> np.ndarray:
        """(N, M, D) -> (M, C)."""
        return self.model.predict_proba(flat_features(features, self.heads) / self.length)


def flat_features(features: Tensor, heads: Heads) -> np.ndarray:
    """The networks' normalised features (N, M, D) side by side: (M, N * D)."""
    with torch.no_grad():
        parts = [head.normalize(x) for head, x in zip(heads.each(), features, strict=True)]
        return torch.cat(parts, dim=-1).float().cpu().numpy()
