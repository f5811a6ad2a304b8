"""Build the parts of a run from its config: backbone, views, features, learners and algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from jointmatch import algorithms
from jointmatch.augment import Surroundings
from jointmatch.cache import Cache
from jointmatch.comparison import Untrained, untrained_heads
from jointmatch.config import AugmentConfig, Config, NetworkConfig
from jointmatch.data import Splits
from jointmatch.fitting import fit
from jointmatch.networks import (
    Encoder,
    Heads,
    Networks,
    StackedEncoders,
    Tokenizer,
    cached_features,
    feature_settings,
    find_backbone,
    find_device,
    has_bf16,
    load_tokenizer,
    load_transformer,
    quicken,
    why_not_compiled,
    why_not_stacked,
)
from jointmatch.networks.tokens import Cut
from jointmatch.resolve import frozen_views, resolve
from jointmatch.training import (
    FeatureSet,
    FullLearner,
    Listener,
    LiteLearner,
    ViewMaker,
    Views,
    autocast_dtype,
    build_heads,
    extract_features,
)
from jointmatch.training.class_words import Vocabulary, class_vocabulary
from jointmatch.training.making import Made, Similarity
from jointmatch.types import Task, balance_of

MANY_LONG = 0.2  # from this share of over-long texts on, their ends are read too, not only their beginnings
MUCH = 1e11  # from this many steps of all runs times parameters of a network's layers on, compiling saves time


class Assembly:
    """Builds each part from one config and one set of splits.

    Args:
        splits: The data to train on.
        config: The resolved settings.
        settings: The user's own settings; a warm start keeps their algorithm and views.
        listener: Told when features are computed.
    """

    def __init__(self, splits: Splits, config: Config, settings: Mapping[str, Any], listener: Listener) -> None:
        self.splits, self.config, self.settings, self.listener = splits, config, settings, listener
        self.device = find_device(config.training.device)
        self.backbone = find_backbone(config.network.backbone)
        pretrained, length = load_tokenizer(self.backbone), config.network.max_length
        self.share_cut = Tokenizer(pretrained, length).share_cut(self.texts)
        self.tokenizer = Tokenizer(pretrained, length, self._cut())
        self.views = Views(config.augment, config.training.seed)
        self.runs = 1  # number of runs trained with the same settings, one after another or side by side
        self.num_networks = algorithms.networks_of(config)
        layers = config.network.layers
        self.layers = [layers[i % len(layers)] for i in range(self.num_networks)]
        self._made: Made = {}

    def _cut(self) -> Cut:
        """Which part of long texts to leave out: as configured or, if ``auto``, by how many texts are long."""
        if self.config.network.cut != "auto":
            return self.config.network.cut
        return "middle" if self.share_cut >= MANY_LONG else "end"

    @cached_property
    def texts(self) -> list[str]:
        """All training texts, in an order that does not depend on which a seed has drawn, so all seeds say the same."""
        return sorted({*self.splits.labeled.texts, *self.splits.pool.texts})

    @cached_property
    def _cache(self) -> Cache:
        return Cache("features")

    def share(self, other: Assembly) -> None:
        """Share views, tokens and features with another seed's run: the texts are mostly the same."""
        other._cache.remember()
        self._made, self._cache, self.tokenizer = other._made, other._cache, other.tokenizer

    @property
    def _learns_views(self) -> bool:
        return algorithms.ALGORITHMS[self.config.algorithm.name].learns_views

    @property
    def num_classes(self) -> int:
        """Number of classes, C."""
        return len(self.splits.classes)

    def algorithm(self) -> algorithms.Algorithm:
        """Build the algorithm on the run's device."""
        own = self.config.algorithm
        balance = balance_of(self.splits.labeled.labels, self.num_classes)
        seed, scale = self.config.training.seed, self.config.network.cosine_scale
        task = Task(self.num_classes, self.num_networks, len(self.splits.pool), balance, seed, scale)
        return algorithms.build(own.name, task, own.settings).to(self.device)

    def frozen_encoder(self) -> Encoder:
        """Build one encoder that reads the layer of every network."""
        return self._encoder(self.layers)

    def features(self, encoder: Encoder, splits: Splits | None = None) -> FeatureSet:
        """Compute frozen features of every part, in the views that mode lite uses."""
        splits = splits or self.splits
        views = self._made_views(splits, self._frozen_views(), everything=True)
        return extract_features(
            splits,
            views,
            encoder,
            self.backbone,
            self.tokenizer,
            self.device,
            self._cache,
            self.listener,
            self._learns_views,
            self._vocabulary(),
            self.config.network.engine,
        )

    def _vocabulary(self) -> Vocabulary | None:
        """The words that cosine heads start from, if wanted."""
        network = self.config.network
        wanted = network.class_words and "cosine" in (network.head_per_network or [network.head])
        return class_vocabulary(self.splits, network.class_words) if wanted else None

    def lite_learner(self, features: FeatureSet) -> LiteLearner:
        """Build heads over frozen features."""
        return LiteLearner(features, self._heads(features))

    @property
    def why_in_turn(self) -> str | None:
        """Why whole networks of several seeds are not trained as one though they could be: one keeps a CPU busy."""
        full = self.config.training.mode == "full" and self.device.type == "cpu"
        by_itself = full and self.config.network.stacked == "auto"
        told = "on a CPU the memory of all at once may not suffice (network.stacked=on has them side by side)"
        return told if by_itself else None

    @property
    def starts_at_features(self) -> bool:
        """Whether the networks' heads need frozen features to start from, being more than random numbers."""
        training, network = self.config.training, self.config.network
        chance = network.head_init == "random" and not network.normalize
        return training.mode == "lite" or training.warm_start or not chance

    def warm_start(self, features: FeatureSet) -> Untrained:
        """Build the heads that whole networks start from, still to be trained."""
        return untrained_heads(features, self.lite_config(), self.num_classes)

    def full_learner(self, features: FeatureSet | None, heads: Heads | None = None) -> FullLearner:
        """Build whole networks, with the given warm heads or new ones."""
        encoders = self._trained_encoders()
        if heads is None:
            heads = self._heads(self._labeled_features() if features is None else features)
        dtype = self._dtype(self.listener.note)
        views = self._made_views(self.splits, self.config.augment, everything=not self.config.augment.fresh)
        return FullLearner(
            self.splits, Networks(encoders, heads), self.tokenizer, views, self.device, dtype, self.listener.note
        )

    def _has_bf16(self) -> bool:
        """Whether whole networks compute in bf16 on a GPU that supports it: the kernels have been timed only there."""
        return self.device.type == "cuda" and has_bf16(self.device) and self._dtype() is not None

    def _dtype(self, tell: Callable[[str], None] = lambda text: None) -> torch.dtype | None:
        """The dtype whole networks compute in; None for fp32."""
        return autocast_dtype(self.device, self.config.training.precision, tell)

    def _trained_encoders(self) -> list[Encoder] | StackedEncoders:
        """Build one encoder for all networks or one each, separate or stacked."""
        shared = algorithms.ALGORITHMS[self.config.algorithm.name].shared_encoder
        encoders = [self._encoder(self.layers)] if shared else [self._encoder([layer]) for layer in self.layers]
        cutoff = self.config.network.feature_cutoff
        if self.config.network.freeze_embeddings:
            for encoder in encoders:
                encoder.freeze_embeddings()
        if self.config.network.stacked != "off":
            shares = "the networks share one" if shared else None
            reason = shares or why_not_stacked([encoder.transformer for encoder in encoders])
            if reason is None:
                return self._stacked(encoders, cutoff)
            self.listener.note(f"The encoders are not stacked: {reason}.")
        for setting, what in (("compiled", "Layers are not compiled"), ("fused", "Kernels of our own are not used")):
            if getattr(self.config.network, setting) == "on":
                self.listener.note(f"{what}: only of stacked encoders.")
        if cutoff:
            for encoder in encoders:
                encoder.cut_features(cutoff)
        return encoders

    def _stacked(self, encoders: Sequence[Encoder], cutoff: float) -> StackedEncoders:
        stacked = StackedEncoders.of(encoders, cutoff, self.listener.note)
        wanted = self.config.network.fused
        if wanted == "on" or (wanted == "auto" and self._has_bf16()):
            stacked.to(self.device)
            stacked.fuse(self.listener.note)
        wanted = self.config.network.compiled
        layers = sum(p.numel() for p in stacked.stack.layers.parameters()) / len(encoders)
        if wanted == "on" or (wanted == "auto" and self.config.training.steps * self.runs * layers >= MUCH):
            reason = why_not_compiled(self.device)
            if reason is None:
                stacked.compile_layers(self.listener.note)
                self.listener.note("Layers are compiled: the first steps take up to a minute longer.")
            elif wanted == "on" or self.device.type == "cuda":
                self.listener.note(f"Layers are not compiled: {reason}.")
        return stacked

    def lite_config(self) -> Config:
        """The recipe's lite settings with the user's algorithm settings, and with heads that fit this run's."""
        if self.config.training.mode == "lite":
            return self.config
        kept = {
            "algorithm": self.settings.get("algorithm", {}),
            "network": {"backbone": self.config.network.backbone},
            "training": {"recipe": self.config.training.recipe, "seed": self.config.training.seed},
        }
        fitted, _ = fit(resolve(kept, "lite"), self.splits)
        return replace(fitted, network=self._head_config)

    def _frozen_views(self) -> AugmentConfig:
        """The views of frozen features, adapted to this machine and the data."""
        wanted = frozen_views(self.settings, self.config)
        return fit(replace(self.config, augment=wanted), self.splits)[0].augment

    def _made_views(self, splits: Splits, augment: AugmentConfig, everything: bool) -> Views:
        """Return the views, having made and kept those made only once: the expensive ones or ``everything``."""
        texts = [*self.splits.labeled.texts, *self.splits.pool.texts]
        surroundings = Surroundings(self.tokenizer.mask_token, self.backbone.source, texts, self.backbone.name)
        views = Views(augment, self.config.training.seed)
        similarity = self._similarity() if augment.compared else None
        maker = ViewMaker(splits, surroundings, self.listener, similarity, self._made)
        for own in views.for_networks(self.num_networks):
            maker.make(own, everything, self._learns_views)
        return views

    def _similarity(self) -> Similarity:
        """Return a function that computes the cosine of texts and views in the backbone's own features."""
        encoder = self._encoder([1.0]).eval().to(self.device)
        quicken(encoder, self.config.network.engine)
        settings = feature_settings(self.backbone, encoder, self.tokenizer, self.device)

        def similarity(texts: Sequence[str], views: Sequence[str]) -> np.ndarray:
            together = [*texts, *views]
            (found,) = cached_features(together, encoder, self.tokenizer, self.device, self._cache, settings)
            unit = found / np.linalg.norm(found, axis=-1, keepdims=True).clip(min=1e-9)
            return (unit[: len(texts)] * unit[len(texts) :]).sum(-1)

        return similarity

    def _encoder(self, layers: list[float]) -> Encoder:
        return Encoder(load_transformer(self.backbone), layers, self.config.network.pooling)

    def _heads(self, features: FeatureSet) -> Heads:
        extra = algorithms.ALGORITHMS[self.config.algorithm.name].extra_classes
        return build_heads(features, self._head_config, self.num_classes, self.config.training.seed, extra)

    @property
    def _head_config(self) -> NetworkConfig:
        """Settings of the heads; in mode full the cutoff applies to embeddings, not to features."""
        full = self.config.training.mode == "full"
        return replace(self.config.network, feature_cutoff=0.0) if full else self.config.network

    def _labeled_features(self) -> FeatureSet:
        """Features of the labelled texts alone: enough for heads that start as random numbers."""
        only_labeled = replace(self.splits, pool=self.splits.pool.rows([]), dev=None, test=None)
        return self.features(self.frozen_encoder(), only_labeled)
