"""The algorithm interface: a rule that turns weak logits into pseudo-labels, plus two losses."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, get_type_hints

import numpy as np
from torch import Tensor, nn

from jointmatch.config import Config, Settings
from jointmatch.errors import ConfigError
from jointmatch.losses import consistency, cross_entropy
from jointmatch.registry import Registry
from jointmatch.schema import NonNegative, check
from jointmatch.types import Mixing, PseudoLabels, Step, Task


class Algorithm(nn.Module, ABC):
    """Base class of the algorithms, which see only logits: never a model, an optimiser, a device or a logger.

    It is an ``nn.Module`` so that running statistics are buffers, which move
    with ``.to(device)`` and are saved by ``state_dict`` without extra code.

    Args:
        task: Number of classes, networks and unlabelled texts.
        unlabeled_weight: The paper's w_u, in L = L_s + w_u L_u.
    """

    name: ClassVar[str]
    reference: ClassVar[str] = ""  # source of the rule
    rule: ClassVar[str] = ""  # formula as plain text: q weak, Q strong prediction, H cross-entropy, tau, w ...
    unverified: ClassVar[str] = ""  # what could not be checked against the paper or its code
    networks: ClassVar[int] = 1  # number trained by default
    fewest: ClassVar[int] = 1  # minimum number of networks the rule needs
    uses_unlabeled: ClassVar[bool] = True
    one_view: ClassVar[bool] = False  # the student reads the weak view, like the teacher
    num_views: ClassVar[int] = 1  # views of each text passed to pseudo_label: the weak one, then strong ones
    every_view: ClassVar[bool] = False  # the student reads all these views of a text, not just one strong view
    chooses: ClassVar[bool] = False  # its labels pick the texts or views the student reads: none are prepared ahead
    learns_views: ClassVar[bool] = False  # labeled_views_loss is called, with all views of the labelled texts
    whole_labels: ClassVar[bool] = False  # L_s is not a batch mean: micro-batches do not split the labelled texts
    whole_pool: ClassVar[bool] = False  # L_u is not a batch mean: micro-batches change it
    notes_losses: ClassVar[bool] = False  # computing a loss updates its buffers
    learning_rate: float = 1e-3  # for the algorithm's own parameters, if any
    requires: ClassVar[Settings] = {}  # settings in other sections that the method depends on
    extra_classes: ClassVar[int] = 0  # outputs beyond the C classes, during training only
    in_rounds: ClassVar[bool] = False  # trains in several phases, each starting with fresh networks
    shared_encoder: ClassVar[bool] = False  # the heads of all networks share one encoder, trained in mode full
    unsuited: ClassVar[Mapping[str, str]] = {}  # mode it cannot be trained in -> reason
    stated: ClassVar[Mapping[str, bool]] = {}  # techniques (see catalogue.py) that the composition gets wrong
    note: ClassVar[str] = ""  # reason for ``stated``; how this form differs from the published one

    def __init__(self, task: Task, *, unlabeled_weight: NonNegative = 1.0) -> None:
        super().__init__()
        self.task = task
        self.unlabeled_weight = unlabeled_weight

    @abstractmethod
    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        """Choose targets from gradient-free logits of the weak views (N, B, C).

        With ``num_views`` V above 1, the logits are (V, N, B, C). With ``extra_classes``, the last axis has that many
        outputs beyond C, here and in both losses, and targets may name the extra ones; everything that is scored, kept
        or used for prediction sees only the first C.
        """

    def supervised_loss(self, logits: Tensor, y: Tensor, step: Step) -> Tensor:
        """L_s of each network: (N, B, C) and (B,) ids, or (N, B, C) distributions where texts are mixed -> (N,)."""
        return cross_entropy(logits, y).mean(-1)

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        """w_u L_u of each network: (N, B, C) -> (N,)."""
        return self.weight_at(step) * consistency(strong_logits, labels)

    @property
    def skips_unselected(self) -> bool:
        """Whether texts that no network learns from can be left out of the batch: true where L_u is the usual mean."""
        own = type(self)
        usual = own.unsupervised_loss is Algorithm.unsupervised_loss and own.mixing is Algorithm.mixing
        return usual and not self.every_view

    def mixing(self, labeled: int, labels: PseudoLabels | None, step: Step, rng: np.random.Generator) -> Mixing | None:
        """How to mix the texts of this batch before learning from them; None for no mixing.

        Args:
            labeled: Number of labelled texts, which come first in the batch.
            labels: Pseudo-labels of the unlabelled texts that follow; None if there are none.
            step: Where training stands.
            rng: The only source of randomness: a function of the run's seed and the step.
        """
        return None

    def labeled_views_loss(self, view_logits: Tensor, y: Tensor, step: Step) -> Tensor:
        """Loss of the algorithm's own parameters on the labelled texts: (V, N, B, C) and (B,) -> (N,).

        The logits carry no gradient to the networks.
        """
        raise NotImplementedError

    def weight_at(self, step: Step) -> float:
        """w_u at a step, for methods that let it grow."""
        return self.unlabeled_weight

    def phase(self, step: Step) -> range:
        """Steps of the phase containing this one, from step number and settings alone; several with ``in_rounds``."""
        return range(step.total)

    def begin_phase(self, pool_logits: Tensor, step: Step) -> None:
        """Receive the previous phase's logits on the pool (N, M, C), just as the next phase's networks start anew."""

    def thresholds(self) -> Tensor | None:
        """Current confidence threshold of each class (N, C), for the run record."""
        return None

    @classmethod
    def fewest_under(cls, settings: Mapping[str, Any]) -> int:
        """Minimum number of networks, given all its settings."""
        return cls.fewest

    def composition(self) -> dict[str, bool]:
        """Which of the paper's techniques it uses; see ``catalogue.py``."""
        return {
            "pseudo_labelling": self.uses_unlabeled,
            "weak_strong": self.uses_unlabeled and not self.one_view,
            "adaptive_threshold": bool(getattr(getattr(self, "threshold", None), "adaptive", False)),
            "double_networks": self.networks > 1,
            "cross_labelling": False,
            "disagreement_update": False,
            "weighted_update": False,
        }


ALGORITHMS: Registry[Algorithm] = Registry("algorithm", group="jointmatch.algorithms", base=Algorithm)


def settings_of(name: str) -> dict[str, inspect.Parameter]:
    """The settings an algorithm takes: its constructor's keyword arguments and those it passes on to its bases."""
    found: dict[str, inspect.Parameter] = {}
    for cls in _constructors(name):
        parameters = inspect.signature(cls.__init__).parameters.values()
        found |= {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}
    return found


def _constructors(name: str) -> list[type[Algorithm]]:
    """The classes whose settings a constructor takes, last base first: bases as long as ``**`` is passed on."""
    found: list[type[Algorithm]] = []
    for cls in ALGORITHMS[name].__mro__:
        if issubclass(cls, Algorithm):
            found.insert(0, cls)
            parameters = inspect.signature(cls.__init__).parameters.values()
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                break
    return found


def describe_settings(name: str) -> dict[str, str]:
    """The meaning of each setting: the ``Args`` in the docstrings of the class and its bases."""
    found: dict[str, str] = {}
    for cls in reversed(ALGORITHMS[name].__mro__):
        if issubclass(cls, Algorithm):
            for line in (cls.__doc__ or "").partition("Args:")[2].splitlines():
                key, colon, meaning = line.strip().partition(": ")
                found |= {key: meaning.replace("``", "")} if colon else {}
    return found


def check_settings(name: str, settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Check settings against an algorithm's declared types and ranges; return the fitted settings and all faults."""
    hints: dict[str, Any] = {}
    for cls in _constructors(name):
        hints |= get_type_hints(cls.__init__, include_extras=True)
    bare = [key for key in settings_of(name) if key not in hints]
    if bare:
        what = f"the setting {bare[0]!r} of {name} has no annotation"
        raise ConfigError([f"{what}, wanted its type and range, such as {bare[0]}: Fraction = 0.9"])
    return check({key: hints[key] for key in settings_of(name)}, settings, "algorithm")


def build(name: str, task: Task, settings: Mapping[str, Any]) -> Algorithm:
    """Create an algorithm by name from settings, checking them first."""
    fitted, faults = check_settings(name, settings)
    if faults:
        raise ConfigError(faults)
    return ALGORITHMS[name](task, **fitted)


def too_few_networks(config: Config) -> str | None:
    """Message if an algorithm has fewer networks than its rule needs; None if it has enough."""
    name, count = config.algorithm.name, networks_of(config)
    settings = {key: p.default for key, p in settings_of(name).items()} | dict(config.algorithm.settings)
    fewest = ALGORITHMS[name].fewest_under(settings)
    if count >= fewest:
        return None
    return f"network.count is {count}, wanted at least {fewest}: under these settings {name}'s networks need each other"


def networks_of(config: Config) -> int:
    """How many networks a run trains: the configured number, or else the algorithm's default.

    In mode lite, where a head costs little, there is at least one network for each layer read, so that all methods, and
    the baselines beside them, know the same about a text. A one-network method's networks then only predict together.
    """
    wanted = ALGORITHMS[config.algorithm.name].networks
    if config.training.mode == "lite":
        wanted = max(wanted, len(set(config.network.layers)))
    return config.network.count or wanted
