"""Every setting of a run: frozen dataclasses, one per section, mirrored by TOML.

Order of precedence, weakest first: the defaults here, the recipe (a TOML file of
values in ``recipes/``, with a part per mode), the user's file, the user's options.
What ``precedence.py`` finds contradictory is refused instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from jointmatch.errors import ConfigError, DataError, UnknownNameError, did_you_mean
from jointmatch.schema import AtLeastOne, Count, Fraction, NonNegative, Positive, Range, check

Settings = dict[str, dict[str, Any]]
"""Partial settings: section -> key -> value, as TOML gives them."""


@dataclass(frozen=True)
class DataConfig:
    """How files are read and cleaned."""

    text_column: str | None = None
    label_column: str | None = None
    weak_column: str | None = None
    strong_column: str | None = None
    encoding: str = "utf-8"
    unlabeled_value: str | int | None = None
    conflicts: Literal["drop", "keep"] = "drop"


@dataclass(frozen=True)
class AugmentConfig:
    """Views of a text: the weak one yields the pseudo-label, one of the strong ones takes the loss."""

    weak: str = "none"
    strong: tuple[str, ...] = ("none",)  # each text is augmented by one of them, drawn at random
    weak_per_network: tuple[str, ...] | None = None  # instead of weak: network i uses the i-th
    strong_per_network: tuple[str, ...] | None = None  # instead of strong: network i uses the i-th
    fresh: bool = True  # mode full: draw cheap views anew at each visit instead of once
    views: AtLeastOne = 1  # views per text and augmenter, where views are made once
    fallback: str = "deletion:0.1+swap:0.1"  # replaces an augmenter whose resource is missing; "" makes that an error
    min_similarity: Fraction = 0.0  # drop views less similar to their text than this; 0: no comparison
    rank: bool = False  # of all views of a text, use the most similar as the weak one

    @property
    def compared(self) -> bool:
        """Whether views are compared with their texts."""
        return self.min_similarity > 0 or self.rank


@dataclass(frozen=True)
class NetworkConfig:
    """What the networks are made of."""

    backbone: str = "auto"
    count: AtLeastOne | None = None  # None: as many as the algorithm needs; in lite, at least one per layer
    layers: tuple[Fraction, ...] = (1.0,)  # share of the encoder's depth each network reads
    pooling: Literal["mean", "first"] = "mean"
    max_length: AtLeastOne = 256
    cut: Literal["auto", "end", "middle"] = "end"  # part of longer texts left out; auto: middle if many are longer
    head: Literal["linear", "mlp", "cosine"] = "linear"
    head_per_network: tuple[Literal["linear", "mlp", "cosine"], ...] | None = None  # instead of head: one per network
    cosine_scale: Positive = 20.0  # a cosine head's logits are this times the cosine with each class's vector
    word_reader: bool = False  # add a linear classifier over words, taught by the networks
    class_words: Count = 0  # start cosine heads at each class's name and this many typical words; 0: use head_init
    head_dropout: Fraction = 0.1
    head_init: Literal["random", "prototype", "means"] = "random"  # means: with centre and bias
    prototype_scale: NonNegative = 0.5
    normalize: bool = False  # subtract the pool's mean from features, scale to length feature_scale
    feature_scale: Positive = 20.0
    freeze_embeddings: bool = False
    stacked: Literal["auto", "on", "off"] = "auto"  # mode full: run networks of one shape as one; auto: if possible
    compiled: Literal["auto", "on", "off"] = "auto"  # stacked, on a GPU: compile the layers; auto: in long runs
    fused: Literal["auto", "on", "off"] = (
        "auto"  # stacked, on a GPU: use our own kernels for attention and more; auto: in bf16
    )
    engine: Literal["auto", "transformers", "int8"] = (
        "auto"  # frozen features on a CPU: fastest fp32; the plain module; approximate int8
    )
    feature_cutoff: Fraction = 0.0  # share of a text's embedding (lite: feature) dimensions hidden while training


@dataclass(frozen=True)
class AlgorithmConfig:
    """The algorithm and its own settings, which its constructor declares and checks."""

    name: str = "jointmatch"
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainingConfig:
    """Training loop, optimiser and choice of checkpoint."""

    recipe: str = "best"
    mode: Literal["auto", "lite", "full"] = "auto"
    seed: Annotated[int, Range(0, 2**32 - 1)] = 0
    device: str = "auto"
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    steps: AtLeastOne = 1000
    batch_size: Count = 8  # B; 0 takes every labelled text at each step
    mu: AtLeastOne = 10  # unlabelled texts per labelled one
    unlabeled_batch_size: AtLeastOne | None = None  # None: mu * B
    update: Literal["joint", "alternating"] = "joint"
    accumulate: AtLeastOne = 1  # micro-batches per step
    learning_rate: Positive = 1e-5
    head_learning_rate: Positive | None = None  # None: same as the encoder's
    schedule: Literal["constant", "linear"] = "constant"
    final_rate: Fraction = 0.1  # fraction of the rate at which a linear schedule ends
    warmup_steps: Count = 0
    weight_decay: NonNegative = 0.01
    adam_epsilon: Positive = 1e-8
    clip_norm: NonNegative = 0.0  # 0: no clipping
    skip_unselected: bool = False  # do not forward texts again that no network selected, if the method allows it
    label_dropout: bool = True  # keep dropout on while making pseudo-labels
    average_decay: Fraction = 0.0  # decay of the averaged weights; 0: no averaging
    # Without it the decay is 1 - 8 / steps at most, however short the training: else the average stays at its start.
    average_warmup: bool = True  # lower that decay at first, so that the start is soon forgotten
    average_labels: bool = False  # make pseudo-labels with the averaged weights
    warm_start: bool = False  # full mode: heads start from a lite run
    evaluate_every: AtLeastOne = 25
    evaluate_on: Count = (
        0  # number of dev texts, drawn once, to choose the checkpoint on; 0: all. Final scores always use all
    )
    patience: Count = 0  # evaluations without a better dev score before stopping; 0: never stop early


@dataclass(frozen=True)
class OutputConfig:
    """What a run writes and shows."""

    checkpoint_every: Count | None = None  # steps; 0: only at the end; None: 25 in lite, 200 in full
    folds: Count = 5  # of the cross-validation shown when there is neither dev nor test; 0: none
    baselines: bool = True  # train baselines to compare the result with


@dataclass(frozen=True)
class Config:
    """All sections, resolved and checked."""

    data: DataConfig = field(default_factory=DataConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    algorithm: AlgorithmConfig = field(default_factory=AlgorithmConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    output: OutputConfig = field(default_factory=OutputConfig)

    def to_dict(self) -> Settings:
        """Return the settings as TOML would hold them, leaving out those that are None."""
        sections = asdict(self)
        sections["algorithm"] = {"name": self.algorithm.name, **self.algorithm.settings}
        return {
            name: {k: list(v) if isinstance(v, tuple) else v for k, v in section.items() if v is not None}
            for name, section in sections.items()
        }


SECTIONS: dict[str, type] = {
    "data": DataConfig,
    "augment": AugmentConfig,
    "network": NetworkConfig,
    "algorithm": AlgorithmConfig,
    "training": TrainingConfig,
    "output": OutputConfig,
}


def faults_in(settings: Mapping[str, Any]) -> list[str]:
    """List everything wrong with partial settings; the algorithm checks its own keys itself."""
    return _fit(settings)[1]


def build(settings: Mapping[str, Any]) -> Config:
    """Build a config from partial settings laid over the defaults.

    Raises:
        ConfigError: naming every unknown key and every value that does not fit.
    """
    fitted, faults = _fit(settings)
    if faults:
        raise ConfigError(faults)
    return Config(**{name: SECTIONS[name](**values) for name, values in fitted.items()})


def _fit(settings: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    fitted: Settings = {}
    faults: list[str] = []
    for name, values in settings.items():
        if name not in SECTIONS:
            known = ", ".join(SECTIONS)
            faults.append(f"unknown section {name!r}.{did_you_mean(name, SECTIONS)} Known: {known}")
        elif not isinstance(values, Mapping):
            faults.append(f"{name} is {values!r}, wanted a section with keys, such as {name}.key = value")
        elif name == "algorithm":
            own = {k: v for k, v in values.items() if k != "name"}
            named, wrong = check({"name": str}, {k: v for k, v in values.items() if k == "name"}, name)
            fitted[name] = {**named, "settings": own}
            faults += wrong
        else:
            fitted[name], wrong = check(_hints(name), values, name)
            faults += wrong
    return fitted, faults


@cache
def _hints(section: str) -> dict[str, Any]:
    return get_type_hints(SECTIONS[section], include_extras=True)


def keys(section: str) -> list[str]:
    """The keys a section declares."""
    return [f.name for f in fields(SECTIONS[section])]


def merge(*layers: Mapping[str, Mapping[str, Any]]) -> Settings:
    """Merge settings key by key; later layers win."""
    merged: Settings = {}
    for layer in layers:
        for section, values in layer.items():
            if not isinstance(merged.get(section, {}), Mapping):
                continue
            if isinstance(values, Mapping):
                merged.setdefault(section, {}).update(values)
            else:  # not a section: leave it for the check to report
                merged[section] = values
    return merged


def read_toml(path: str | Path) -> Settings:
    """Read a config file; the error for invalid TOML includes the parser's line number."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no config file {path}.") from None
    except OSError as error:
        raise DataError(f"The config file {path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}.") from None


def parse_overrides(pairs: Iterable[str]) -> Settings:
    """Turn ``section.key=value`` strings into settings; values are parsed as TOML, or kept as text."""
    settings: Settings = {}
    faults = []
    for pair in pairs:
        path, equals, raw = pair.partition("=")
        section, dot, key = path.strip().partition(".")
        if not (equals and dot and key):
            faults.append(f"{pair!r} was given to --set, wanted section.key=value, such as algorithm.tau=0.95")
            continue
        settings.setdefault(section, {})[key] = _parse_value(raw.strip())
    if faults:
        raise ConfigError(faults)
    return settings


def _parse_value(raw: str) -> Any:
    try:
        return tomllib.loads(f"value = {raw}")["value"]
    except tomllib.TOMLDecodeError:
        return raw


@cache
def recipe_names() -> tuple[str, ...]:
    """The recipes that ship with the package."""
    folder = resources.files("jointmatch") / "recipes"
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def recipe(name: str, mode: str, algorithm: str = AlgorithmConfig.name) -> Settings:
    """Merge a recipe's values: ``[all]``, then ``[lite]`` or ``[full]``, then the algorithm's own two parts."""
    if name not in recipe_names():
        known = ", ".join(recipe_names())
        raise UnknownNameError(f"Unknown recipe {name!r}.{did_you_mean(name, recipe_names())} Known: {known}.")
    parts = _recipe_file(name)
    own = parts.get("algorithms", {}).get(algorithm, {})
    return merge(*(part.get(which, {}) for part in (parts, own) for which in ("all", mode)))


@cache
def _recipe_file(name: str) -> Settings:
    """Read a recipe once: a table of results asks for the same few recipes hundreds of times."""
    text = (resources.files("jointmatch") / "recipes" / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
