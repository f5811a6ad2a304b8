"""Adapt settings to the data and the machine, and report what the user should know about it."""

from __future__ import annotations

from dataclasses import replace

from jointmatch import algorithms
from jointmatch.augment import Surroundings
from jointmatch.config import AlgorithmConfig, AugmentConfig, Config
from jointmatch.data import Splits
from jointmatch.networks import find_backbone
from jointmatch.training import ready_views
from jointmatch.training.metrics import no_text_of


def fit(config: Config, splits: Splits) -> tuple[Config, list[str]]:
    """Fall back where there is no pool or an augmenter's resource is missing; return the config and the warnings."""
    config, warnings = _without_pool(config, splits)
    warnings += _small_pool(config, splits)
    backbone = find_backbone(config.network.backbone)
    around = Surroundings(backbone=backbone.source, backbone_name=backbone.name)
    augment, notes = ready_views(_wanted(config.augment, splits), around)
    return replace(config, augment=augment), warnings + notes + _lacking_classes(splits)


def _lacking_classes(splits: Splits) -> list[str]:
    """One line per scored part without any text of some class: its macro-F1 is over fewer classes."""
    lines = []
    for name, part in (("dev", splits.dev), ("test", splits.test)):
        there = set(part.labels) if part else set()
        absent = [label for i, label in enumerate(splits.classes) if i not in there]
        if part and absent:
            lines.append(no_text_of(f"The {name} part", absent))
    return lines


def _without_pool(config: Config, splits: Splits) -> tuple[Config, list[str]]:
    algorithm = algorithms.ALGORITHMS[config.algorithm.name]
    if len(splits.pool) or not algorithm.uses_unlabeled:
        return config, []
    count = algorithms.networks_of(config)
    network = replace(config.network, count=count, word_reader=False)  # nothing would teach it
    supervised = replace(config, algorithm=AlgorithmConfig("supervised"), network=network)
    return supervised, [
        f"No unlabelled texts: {config.algorithm.name} has nothing to learn from them, so training is supervised."
    ]


def _small_pool(config: Config, splits: Splits) -> list[str]:
    pool, labeled = len(splits.pool), len(splits.labeled)
    if not 0 < pool < labeled or not algorithms.ALGORITHMS[config.algorithm.name].uses_unlabeled:
        return []
    return [
        f"Only {pool} unlabelled text(s) beside {labeled} labelled ones: {config.algorithm.name} is made for many "
        "times more unlabelled than labelled texts, and may gain little here."
    ]


def _wanted(augment: AugmentConfig, splits: Splits) -> AugmentConfig:
    """Drop augmenters that the user's own view columns replace: their resources may be missing."""
    if splits.pool.weak is not None and splits.labeled.weak is not None:
        augment = replace(augment, weak="none", weak_per_network=None)
    if splits.pool.strong is not None:
        augment = replace(augment, strong=("none",), strong_per_network=None)
    return augment
