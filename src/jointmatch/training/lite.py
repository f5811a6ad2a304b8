"""Mode lite: the encoder is frozen, features of every view are computed once, heads are trained on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from jointmatch.cache import Cache
from jointmatch.config import NetworkConfig
from jointmatch.data import Splits
from jointmatch.listener import Listener
from jointmatch.networks import (
    Backbone,
    Encoder,
    Engine,
    Heads,
    HeadShape,
    Joined,
    Tokenizer,
    cached_features,
    feature_settings,
    join_heads,
    one_thread,
    quicken,
)
from jointmatch.randomness import generator
from jointmatch.training.class_words import ClassWords, Vocabulary
from jointmatch.training.learner import ChosenViews, Joinable, Student, Weak
from jointmatch.training.views import Views
from jointmatch.types import Mixing, Mixings


@dataclass(frozen=True)
class FeatureSet:
    """Frozen features (N, M, D) of everything a run touches."""

    labeled: Tensor
    labels: Tensor  # (M,)
    weak: Tensor
    strong: list[Tensor]
    parts: dict[str, Tensor]
    labeled_strong: list[Tensor] = field(default_factory=list)  # if the algorithm uses them
    words: ClassWords | None = None  # if the heads start from them

    def view(self, number: int, part: Literal["pool", "labeled"] = "pool") -> Tensor:
        """The weak view's features if ``number`` is 0, else those of a strong view, counted from 1."""
        weak, strong = (self.weak, self.strong) if part == "pool" else (self.labeled, self.labeled_strong)
        return strong[(number - 1) % len(strong)] if number else weak

    def fold(self, rows: Tensor) -> FeatureSet:
        """The feature set without the labelled ``rows``, which become the part ``held_out``."""
        kept = torch.ones_like(self.labels, dtype=torch.bool)
        kept[rows] = False
        parts = {"held_out": self.labeled[:, rows], "pool": self.weak}
        return replace(
            self,
            labeled=self.labeled[:, kept],
            labels=self.labels[kept],
            parts=parts,
            labeled_strong=[view[:, kept] for view in self.labeled_strong],
            words=self.words.fold(kept) if self.words else None,
        )


def extract_features(
    splits: Splits,
    views: Views,
    encoder: Encoder,
    backbone: Backbone,
    tokenizer: Tokenizer,
    device: torch.device,
    cache: Cache,
    listener: Listener,
    labeled_strong: bool = False,
    vocabulary: Vocabulary | None = None,
    engine: Engine = "auto",
) -> FeatureSet:
    """Compute or read back the features of all parts and views, and of the class words if there are any."""
    encoder.eval().to(device)
    if reason := quicken(encoder, engine):
        listener.note(reason)
    settings = feature_settings(backbone, encoder, tokenizer, device)
    named = _named_texts(splits, views.for_networks(len(encoder.layers)), labeled_strong)
    if vocabulary is not None:
        named["words"] = [vocabulary.words]
    # One list for all parts: their texts share batches, and each distinct text is computed only once.
    every = [text for readers in named.values() for texts in readers for text in texts]
    listener.stage("features", len(set(every)))
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
    words = None
    if vocabulary is not None:
        words = ClassWords(tensors["words"], vocabulary.typical.to(device), vocabulary.named.to(device))
    return FeatureSet(
        labeled=tensors["labeled"],
        labels=torch.tensor(splits.labeled.labels, device=device),
        weak=tensors["weak"],
        strong=[tensor for name, tensor in tensors.items() if name.startswith("strong-")],
        parts={name: tensors[name] for name in ("dev", "test") if name in tensors} | {"pool": tensors["weak"]},
        labeled_strong=[tensor for name, tensor in tensors.items() if name.startswith("labeled-")],
        words=words,
    )


def _named_texts(splits: Splits, views: list[Views], labeled_strong: bool) -> dict[str, list[list[str]]]:
    """The texts of each part and view: one list for all networks, or one each."""
    strong = [own.fixed_strong(splits.pool) for own in views]
    labeled = [own.fixed_strong(splits.labeled) for own in views] if labeled_strong else []
    named = {
        "labeled": [own.fixed_weak(splits.labeled) for own in views],
        "weak": [own.fixed_weak(splits.pool) for own in views],
        **{f"strong-{i}": list(lists) for i, lists in enumerate(_side_by_side(strong))},
        **{f"labeled-{i}": list(lists) for i, lists in enumerate(_side_by_side(labeled))},
    }
    parts = {"dev": splits.dev, "test": splits.test}
    return named | {name: [part.texts] for name, part in parts.items() if part is not None}


def _side_by_side(columns: list[list[list[str]]]) -> Iterator[tuple[list[str], ...]]:
    """Each network's first column, then each one's second, ...; a network with fewer starts over."""
    most = max(map(len, columns), default=0)
    return zip(*([own[i % len(own)] for i in range(most)] for own in columns), strict=True)


def build_heads(features: FeatureSet, config: NetworkConfig, num_classes: int, seed: int, extra: int = 0) -> Heads:
    """Heads centred on the features and initialised as configured, with ``extra`` outputs besides the classes."""
    count, _, width = features.labeled.shape
    scale = config.feature_scale if config.normalize else None
    kinds, cosine = config.head_per_network, config.cosine_scale
    shape = HeadShape(
        width, num_classes, config.head, config.head_dropout, scale, config.feature_cutoff, extra, kinds, cosine
    )
    heads = Heads(shape, count, seed)
    heads.to(features.labeled.device)
    pool = features.weak if features.weak.shape[1] else features.labeled
    if config.head_init == "means":
        heads.center_between(pool, features.labeled, features.labels)
        heads.start_at_means(features.labeled, features.labels, config.prototype_scale)
    else:
        heads.center_on(pool)
    if config.head_init == "prototype":
        heads.start_at_prototypes(features.labeled, features.labels, config.prototype_scale)
    if features.words is not None:
        heads.start_at_words(features.words.vectors(features.labels, config.class_words))
    return heads


class LiteLearner(Joinable):
    """Heads over frozen features."""

    def __init__(self, features: FeatureSet, heads: Heads) -> None:
        self.features, self.networks = features, heads
        self.heads = heads
        self.num_networks = len(heads)
        self.device = features.labeled.device
        self.labels = features.labels
        self.pool_size = features.weak.shape[1]

    def at_work(self) -> AbstractContextManager[None]:
        return one_thread(self.device)

    def student_inputs(self, ask: Student) -> list[Tensor]:
        given = self.features.labeled[:, self._index(ask.labeled)]
        others = self._student_features(ask.pool, ask.draw, ask.chosen)
        if ask.kept is not None:
            others = others[:, self._index(ask.kept)]
        return list(torch.cat([given, others], dim=1))

    def _student_features(self, pool: np.ndarray, draw: int, chosen: ChosenViews | None) -> Tensor:
        """Features of the strong views, drawn at random per text if there are several, or of the chosen views."""
        rows, strong = self._index(pool), self.features.strong
        if chosen is not None:
            views = [self.features.view(number) for number in range(len(chosen.draws))]
            which = chosen.which[..., None]
        elif len(strong) == 1:
            return strong[0][:, rows]
        else:
            views = strong
            which = self._index(generator(draw, "choice").integers(len(strong), size=len(pool)))[None, :, None]
        return torch.stack([(which == i) * view[:, rows] for i, view in enumerate(views)]).sum(0)

    def weak_inputs(self, ask: Weak) -> list[Tensor]:
        return list(self.features.view(ask.view, ask.part)[:, self._index(ask.rows)])

    def logits(
        self,
        module: nn.Module,
        inputs: list[Tensor],
        seeds: Sequence[int] | None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        logits: Tensor = module(inputs, seeds, mixing)
        return logits

    def why_not_joined(self) -> str | None:
        # Measured: a step is random numbers and arithmetic on features, fastest while these are in the CPU cache.
        return "on a CPU heads learn no faster together" if self.device.type == "cpu" else None

    def bytes_to_train(self) -> int:
        own = self.features
        views = [own.labeled, own.weak, *own.strong, *own.labeled_strong, *own.parts.values()]
        return sum({id(x): x.nbytes for x in views}.values())

    def join(self, modules: Sequence[nn.Module]) -> Joined:
        return join_heads([module for module in modules if isinstance(module, Heads)])

    def part_logits(self, module: nn.Module, part: str, rows: np.ndarray | None = None) -> Tensor:
        features = self.features.parts[part]
        if rows is not None:
            features = features[:, self._index(rows)]
        return self._of_classes(module(features)).float().cpu()

    def predict_proba(self, features: Tensor) -> np.ndarray:
        """The mean of the heads' probabilities, (M, C), from features (N, M, D)."""
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
