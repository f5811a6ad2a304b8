"""Turn the user's settings into a complete, checked config: defaults, recipe, file, options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from jointmatch import algorithms, config
from jointmatch.augment import parse
from jointmatch.config import AugmentConfig, Config, Settings, TrainingConfig
from jointmatch.errors import ConfigError, InputError
from jointmatch.networks import find_backbone, find_device


def resolve(settings: Mapping[str, Any], mode: str) -> Config:
    """Lay the user's settings over the recipe for ``mode`` and check everything.

    Raises:
        ConfigError: listing everything that is wrong, whichever part found it.
    """
    faults = faults_in(settings)
    if faults:
        raise ConfigError(faults)
    name = settings.get("algorithm", {}).get("name", config.AlgorithmConfig.name)
    method = algorithms.ALGORITHMS[name]
    if mode in method.unsuited:
        raise ConfigError([f"{name} cannot be trained in mode {mode}: {method.unsuited[mode]}"])
    recipe = config.recipe(_recipe_name(settings), mode, name)
    fixed = {"algorithm": {"name": name}, "training": {"mode": mode}}
    resolved = config.build(config.merge(recipe, method.requires, settings, fixed))
    if fault := algorithms.too_few_networks(resolved):
        raise ConfigError([fault])
    if not method.uses_unlabeled:  # nothing would teach it
        if _section(settings, "network").get("word_reader"):
            taught = f"{name} learns from no unlabelled text that could teach one"
            raise ConfigError([f"network.word_reader is True, but {taught}: leave it out"])
        resolved = replace(resolved, network=replace(resolved.network, word_reader=False))
    return replace(resolved, augment=_one_view(resolved.augment)) if method.one_view else resolved


def check(settings: Mapping[str, Any]) -> None:
    """Raise if the settings cannot be trained in the mode they name or, if the data decides, in either mode."""
    asked = _section(settings, "training").get("mode", TrainingConfig.mode)
    errors = []
    for mode in ("lite", "full") if asked not in ("lite", "full") else (asked,):
        try:
            resolve(settings, mode)
        except ConfigError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def frozen_views(settings: Mapping[str, Any], resolved: Config) -> AugmentConfig:
    """Return the views for frozen features: even in mode full, those of the recipe's lite part or the user's own."""
    if resolved.training.mode == "lite":
        return resolved.augment
    name = resolved.algorithm.name
    method, recipe = algorithms.ALGORITHMS[name], config.recipe(resolved.training.recipe, "lite", name)
    layers = ({"augment": layer.get("augment", {})} for layer in (recipe, method.requires, settings))
    augment = config.build(config.merge(*layers)).augment
    return _one_view(augment) if method.one_view else augment


def _one_view(augment: AugmentConfig) -> AugmentConfig:
    """Let the student read the same view as the teacher."""
    return replace(augment, strong=(augment.weak,), strong_per_network=augment.weak_per_network)


def faults_in(settings: Mapping[str, Any]) -> list[str]:
    """List every fault of partial settings: unknown keys, misfits, values out of range, unknown names."""
    faults = config.faults_in(settings)

    def ask(question: Callable[[str], object], name: Any) -> bool:
        """Whether looking up a name succeeds; record a fault if not. Misfits were found before."""
        if not isinstance(name, str):
            return False
        try:
            question(name)
        except ConfigError as error:
            faults.extend(error.faults)
        except InputError as error:
            faults.append(str(error))
        else:
            return True
        return False

    own = _section(settings, "algorithm")
    algorithm = own.pop("name", config.AlgorithmConfig.name)
    if ask(algorithms.ALGORITHMS.__getitem__, algorithm):
        faults += algorithms.check_settings(algorithm, own)[1]
    ask(lambda name: config.recipe(name, "lite"), _recipe_name(settings))
    augment = _section(settings, "augment")
    for key in ("weak", "strong", "weak_per_network", "strong_per_network", "fallback"):
        specs = augment.get(key)
        for spec in specs if isinstance(specs, list | tuple) else [specs]:
            if spec:
                ask(parse, spec)
    ask(find_backbone, _section(settings, "network").get("backbone", "auto"))
    ask(find_device, _section(settings, "training").get("device", "auto"))
    return faults


def _section(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    values = settings.get(name, {})
    return dict(values) if isinstance(values, Mapping) else {}


def _recipe_name(settings: Mapping[str, Any]) -> Any:
    return _section(settings, "training").get("recipe", TrainingConfig.recipe)


def choose_mode(settings: Mapping[str, Any], pool_size: int) -> tuple[str, str]:
    """Return the mode to train in and the reason, in words."""
    import torch

    training = _section(settings, "training")
    asked = training.get("mode", "auto")
    if asked in ("lite", "full"):
        return asked, "as set"
    device = str(training.get("device", "auto"))
    gpu = (torch.cuda.is_available() and device in ("auto", "cuda")) or device.startswith("cuda")
    if not gpu:
        return "lite", "no GPU: the encoder stays frozen, heads are trained on its features"
    if pool_size == 0:
        return "lite", "no unlabelled texts: frozen features overfit less"
    return "full", "a GPU is here: the networks are trained entirely"


def as_settings(flat: Mapping[str, Any]) -> Settings:
    """Nest settings given as ``{"algorithm.tau": 0.9}`` or, as in TOML, ``{"algorithm": {"tau": 0.9}}``."""
    if not isinstance(flat, Mapping):
        raise ConfigError([f'settings is {flat!r}, wanted a dict, such as {{"algorithm.tau": 0.9}}'])
    nested: Settings = {}
    for path, value in flat.items():
        section, dot, key = path.partition(".")
        if isinstance(value, Mapping) and not dot:
            nested.setdefault(section, {}).update(value)
            continue
        if not dot:
            raise ConfigError([f"{path!r} was given as a setting, wanted section.key, such as algorithm.tau"])
        nested.setdefault(section, {})[key] = value
    return nested
