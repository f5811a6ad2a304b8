"""What the result has to beat: plain scikit-learn on the same frozen features."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from jointmatch.networks import Heads
from jointmatch.randomness import generator
from jointmatch.training.lite import FeatureSet

NEIGHBORS = 20
ALPHA = 0.8  # on AG News' dev part a point better than scikit-learn's 0.2
MOST_POOL_TEXTS = 20_000  # the neighbour graph grows with the square of it


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
        self.model = LabelSpreading(kernel="knn", n_neighbors=neighbors, alpha=ALPHA, max_iter=100, n_jobs=-1)
        with warnings.catch_warnings():  # texts no label reaches divide by zero
            warnings.simplefilter("ignore")
            self.model.fit(x, y)

    def predict_proba(self, features: Tensor) -> np.ndarray:
        """(N, M, D) -> (M, C); a text no label reaches gets the uniform distribution."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            probs = self.model.predict_proba(flat_features(features, self.heads))
        return np.nan_to_num(probs, nan=1 / probs.shape[1])


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
