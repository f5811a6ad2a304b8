"""Mode lite: the encoder is frozen, features of every view are computed once, heads are trained on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from jointmatch.cache import Cache
from jointmatch.config import NetworkConfig
from jointmatch.data import Splits
from jointmatch.networks import Backbone, Encoder, Heads, HeadShape, Tokenizer, cached_features, feature_settings
from jointmatch.randomness import generator
from jointmatch.training.learner import Learner
from jointmatch.training.listener import Listener
from jointmatch.training.views import Views
from jointmatch.types import Mixing


@dataclass(frozen=True)
class FeatureSet:
    """Frozen features (N, M, D) of everything a run touches."""

    labeled: Tensor
    labels: Tensor  # (M,)
    weak: Tensor
    strong: list[Tensor]
    parts: dict[str, Tensor]

    def fold(self, rows: Tensor) -> FeatureSet:
        """The same without some labelled rows, which become the part ``held_out``."""
        kept = torch.ones_like(self.labels, dtype=torch.bool)
        kept[rows] = False
        parts = {"held_out": self.labeled[:, rows], "pool": self.weak}
        return replace(self, labeled=self.labeled[:, kept], labels=self.labels[kept], parts=parts)


def extract_features(
    splits: Splits,
    views: Views,
    encoder: Encoder,
    backbone: Backbone,
    tokenizer: Tokenizer,
    device: torch.device,
    listener: Listener,
) -> FeatureSet:
    """Compute or read back the features of all parts and views."""
    cache = Cache("features")
    settings = feature_settings(backbone, encoder, tokenizer.max_length, device)
    named = _named_texts(splits, views.for_networks(len(encoder.layers)))
    # One list lets short and long texts of all parts share batches, and each distinct text be computed once.
    every = [text for readers in named.values() for texts in readers for text in texts]
    listener.stage("features", len(set(every)))
    encoder.eval().to(device)
    found = cached_features(every, encoder, tokenizer, device, cache, settings, listener.advance)
    listener.done()
    if cache.problem:
        listener.note(f"Features are not kept for the next run: {cache.problem}.")
    tensors, start = {}, 0
    for name, readers in named.items():
        size = len(readers[0])
        own = [start + (i % len(readers)) * size for i in range(len(found))]  # where network i's texts begin
        tensors[name] = torch.from_numpy(np.stack([found[i, o : o + size] for i, o in enumerate(own)])).to(device)
        start += size * len(readers)
    return FeatureSet(
        labeled=tensors["labeled"],
        labels=torch.tensor(splits.labeled.labels, device=device),
        weak=tensors["weak"],
        strong=[tensor for name, tensor in tensors.items() if name.startswith("strong-")],
        parts={name: tensors[name] for name in ("dev", "test") if name in tensors} | {"pool": tensors["weak"]},
    )


def _named_texts(splits: Splits, views: list[Views]) -> dict[str, list[list[str]]]:
    """The texts of each part and view: one list for all networks, or one each."""
    strong = [own.fixed_strong(splits.pool) for own in views]
    named = {
        "labeled": [own.fixed_weak(splits.labeled) for own in views],
        "weak": [own.fixed_weak(splits.pool) for own in views],
        **{f"strong-{i}": list(lists) for i, lists in enumerate(zip(*strong, strict=True))},
    }
    parts = {"dev": splits.dev, "test": splits.test}
    return named | {name: [part.texts] for name, part in parts.items() if part is not None}


def build_heads(features: FeatureSet, config: NetworkConfig, num_classes: int, seed: int, extra: int = 0) -> Heads:
    """Heads centred on the features and started as the config says, with ``extra`` outputs besides the classes."""
    count, _, width = features.labeled.shape
    scale = config.feature_scale if config.normalize else None
    shape = HeadShape(width, num_classes, config.head, config.head_dropout, scale, config.feature_cutoff, extra)
    heads = Heads(shape, count, seed)
    heads.to(features.labeled.device)
    heads.center_on(features.weak if features.weak.shape[1] else features.labeled)
    if config.head_init == "prototype" and config.head == "linear":
        heads.start_at_prototypes(features.labeled, features.labels, config.prototype_scale)
    return heads


class LiteLearner(Learner):
    """Heads over frozen features."""

    def __init__(self, features: FeatureSet, heads: Heads) -> None:
        self.features, self.networks = features, heads
        self.heads = heads
        self.num_networks = len(heads)
        self.device = features.labeled.device
        self.labels = features.labels
        self.pool_size = features.weak.shape[1]

    def student_logits(
        self,
        labeled: np.ndarray,
        pool: np.ndarray,
        seeds: Sequence[int],
        draw: int,
        views: np.ndarray | None = None,
        mixing: Mixing | None = None,
    ) -> tuple[Tensor, Tensor]:
        given = self.features.labeled[:, self._index(labeled)]
        strong = self.features.strong
        if views is not None:
            kinds = np.where(views == 0, 0, 1 + (views - 1) % len(strong))
            unlabeled = self._choose([self.features.weak, *strong], kinds, pool)
        elif len(strong) == 1:
            unlabeled = strong[0][:, self._index(pool)]
        else:
            drawn = generator(draw, "choice").integers(len(strong), size=len(pool))
            unlabeled = self._choose(strong, drawn, pool)
        logits = self.heads(torch.cat([given, unlabeled], dim=1), seeds, mixing)
        return logits[:, : len(labeled)], logits[:, len(labeled) :]

    def _choose(self, views: Sequence[Tensor], which: np.ndarray, pool: np.ndarray) -> Tensor:
        """(N, B, D): each row's features from the view that ``which`` names."""
        rows, place = self._index(pool), self._index(which)[None, :, None]
        return torch.stack([(place == i) * view[:, rows] for i, view in enumerate(views)]).sum(0)

    def weak_logits(
        self, module: nn.Module, pool: np.ndarray, seeds: Sequence[int] | None, draw: int, view: int = 0
    ) -> Tensor:
        strong = self.features.strong
        features = strong[(view - 1) % len(strong)] if view else self.features.weak
        return module(features[:, self._index(pool)], seeds)

    def part_logits(self, module: nn.Module, part: str) -> Tensor:
        return self._of_classes(module(self.features.parts[part])).float().cpu()

    def predict_proba(self, features: Tensor) -> np.ndarray:
        """Features (N, M, D) to the mean of the heads' probabilities (M, C)."""
        with torch.no_grad():
            return self._of_classes(self.heads(features)).double().softmax(-1).mean(0).cpu().numpy()

    def per_network(self) -> list[list[nn.Parameter]]:
        return [list(head.parameters()) for head in self.heads]

    def encoder_parameters(self) -> list[nn.Parameter]:
        return []

    def _of_classes(self, logits: Tensor) -> Tensor:
        return logits[..., : self.heads.shape.num_classes]

    def _index(self, rows: np.ndarray) -> Tensor:
        return torch.as_tensor(rows, device=self.device)
