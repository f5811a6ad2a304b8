"""Settings as the data and the machine let them be, with what the user should know of it."""

from __future__ import annotations

from dataclasses import replace

from jointmatch import algorithms
from jointmatch.augment import Surroundings
from jointmatch.config import AlgorithmConfig, AugmentConfig, Config
from jointmatch.data import Splits
from jointmatch.networks import find_backbone
from jointmatch.training import ready_views


def fit(config: Config, splits: Splits) -> tuple[Config, list[str]]:
    """Without a pool nothing can learn from one; an augmenter whose resource is missing is stood in for."""
    config, warnings = _without_pool(config, splits)
    backbone = find_backbone(config.network.backbone)
    augment, notes = ready_views(_wanted(config.augment, splits), Surroundings(backbone=backbone.source))
    return replace(config, augment=augment), warnings + notes


def _without_pool(config: Config, splits: Splits) -> tuple[Config, list[str]]:
    algorithm = algorithms.ALGORITHMS[config.algorithm.name]
    if len(splits.pool) or not algorithm.uses_unlabeled:
        return config, []
    count = config.network.count or algorithm.networks
    supervised = replace(config, algorithm=AlgorithmConfig("supervised"), network=replace(config.network, count=count))
    return supervised, [f"No unlabelled texts: {config.algorithm.name} cannot learn from any, trained supervised."]


def _wanted(augment: AugmentConfig, splits: Splits) -> AugmentConfig:
    """Without what the user's own columns of views stand in for: its resource need not be here."""
    if splits.pool.weak is not None and splits.labeled.weak is not None:
        augment = replace(augment, weak="none", weak_per_network=None)
    if splits.pool.strong is not None:
        augment = replace(augment, strong=("none",), strong_per_network=None)
    return augment
