"""What an algorithm is: a rule from weak logits to pseudo-labels, plus two losses."""

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
    """Sees logits only: never a model, an optimiser, a device or a logger.

    It is an ``nn.Module`` so that running statistics are buffers, which move
    with ``.to(device)`` and are saved by ``state_dict`` without extra code.

    Args:
        task: Number of classes, networks and unlabelled texts.
        unlabeled_weight: The paper's w_u, in L = L_s + w_u L_u.
    """

    name: ClassVar[str]
    reference: ClassVar[str] = ""  # where the rule comes from
    rule: ClassVar[str] = ""  # the formula in plain text: q weak, Q strong prediction, H cross-entropy, tau, w ...
    unverified: ClassVar[str] = ""  # what of the rule could not be checked against its paper or code
    networks: ClassVar[int] = 1  # how many it trains unless told otherwise
    fewest: ClassVar[int] = 1  # with fewer networks the rule is not itself
    uses_unlabeled: ClassVar[bool] = True
    one_view: ClassVar[bool] = False  # the student reads the weak view, as the teacher does
    num_views: ClassVar[int] = 1  # of each text given to pseudo_label: the weak one, then strong ones
    every_view: ClassVar[bool] = False  # the student reads each text in all these views, not in one strong one
    chooses: ClassVar[bool] = False  # its labels say which texts or views the student reads: none are prepared before
    learns_views: ClassVar[bool] = False  # labeled_views_loss is asked for, with all views of the labelled texts
    whole_labels: ClassVar[bool] = False  # L_s is no mean over the batch: micro-batches do not part labelled texts
    whole_pool: ClassVar[bool] = False  # L_u is no mean over the batch: in micro-batches it is another one
    notes_losses: ClassVar[bool] = False  # asking for a loss changes its buffers
    learning_rate: float = 1e-3  # of the algorithm's own parameters, where it has any
    requires: ClassVar[Settings] = {}  # settings of other sections that the method is not itself without
    extra_classes: ClassVar[int] = 0  # outputs besides the C classes, while training only
    in_rounds: ClassVar[bool] = False  # trains in several phases, each with networks that start anew
    shared_encoder: ClassVar[bool] = False  # one encoder serves the heads of all networks, trained in mode full
    unsuited: ClassVar[Mapping[str, str]] = {}  # mode it cannot be trained in -> why
    stated: ClassVar[Mapping[str, bool]] = {}  # techniques (see catalogue.py) where the composition tells them wrongly
    note: ClassVar[str] = ""  # why; how the form here differs from the published one

    def __init__(self, task: Task, *, unlabeled_weight: NonNegative = 1.0) -> None:
        super().__init__()
        self.task = task
        self.unlabeled_weight = unlabeled_weight

    @abstractmethod
    def pseudo_label(self, weak_logits: Tensor, step: Step) -> PseudoLabels:
        """Choose targets from gradient-free logits of the weak views (N, B, C).

        With ``num_views`` V above 1 the logits are (V, N, B, C). With ``extra_classes`` the last axis here and in both
        losses has C plus so many outputs, and targets may name the extra ones; whatever is scored, kept or used to
        predict sees the first C alone.
        """

    def supervised_loss(self, logits: Tensor, y: Tensor, step: Step) -> Tensor:
        """L_s of each network: (N, B, C) and (B,) ids, or (N, B, C) distributions where texts are mixed -> (N,)."""
        return cross_entropy(logits, y).mean(-1)

    def unsupervised_loss(self, strong_logits: Tensor, labels: PseudoLabels, step: Step) -> Tensor:
        """w_u L_u of each network: (N, B, C) -> (N,)."""
        return self.weight_at(step) * consistency(strong_logits, labels)

    @property
    def skips_unselected(self) -> bool:
        """Whether a text that no network learns from need not be in the batch: so where L_u is the usual mean."""
        own = type(self)
        usual = own.unsupervised_loss is Algorithm.unsupervised_loss and own.mixing is Algorithm.mixing
        return usual and not self.every_view

    def mixing(self, labeled: int, labels: PseudoLabels | None, step: Step, rng: np.random.Generator) -> Mixing | None:
        """How the texts of this batch are mixed before they are learnt from; None: not at all.

        Args:
            labeled: How many labelled texts come first in the batch.
            labels: Of the unlabelled ones that follow; None where there are none.
            step: Where training stands.
            rng: The only source of chance: a function of the run's seed and the step.
        """
        return None

    def labeled_views_loss(self, view_logits: Tensor, y: Tensor, step: Step) -> Tensor:
        """What the algorithm's own parameters learn from the labelled texts: (V, N, B, C) and (B,) -> (N,).

        The logits carry no gradient to the networks.
        """
        raise NotImplementedError

    def weight_at(self, step: Step) -> float:
        """w_u at a step, where a method lets it grow."""
        return self.unlabeled_weight

    def phase(self, step: Step) -> range:
        """The steps of the phase this one is in, by step number and settings alone; ``in_rounds`` has several."""
        return range(step.total)

    def begin_phase(self, pool_logits: Tensor, step: Step) -> None:
        """Take the pool's logits (N, M, C) of the phase before, just as the next one's networks start anew."""

    def thresholds(self) -> Tensor | None:
        """The confidence each class must reach now (N, C), for the run record."""
        return None

    @classmethod
    def fewest_under(cls, settings: Mapping[str, Any]) -> int:
        """How many networks it takes, given all its settings."""
        return cls.fewest

    def composition(self) -> dict[str, bool]:
        """Which of the paper's techniques it is made of; see ``catalogue.py``."""
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
    """The settings an algorithm takes: its constructor's keyword arguments and those it hands on to its bases."""
    found: dict[str, inspect.Parameter] = {}
    for cls in _constructors(name):
        parameters = inspect.signature(cls.__init__).parameters.values()
        found |= {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}
    return found


def _constructors(name: str) -> list[type[Algorithm]]:
    """The classes whose settings a constructor takes, the last base first: bases as far as ``**`` is handed on."""
    found: list[type[Algorithm]] = []
    for cls in ALGORITHMS[name].__mro__:
        if issubclass(cls, Algorithm):
            found.insert(0, cls)
            parameters = inspect.signature(cls.__init__).parameters.values()
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                break
    return found


def describe_settings(name: str) -> dict[str, str]:
    """What each setting means: the ``Args`` of the docstrings of the class and its bases."""
    found: dict[str, str] = {}
    for cls in reversed(ALGORITHMS[name].__mro__):
        if issubclass(cls, Algorithm):
            for line in (cls.__doc__ or "").partition("Args:")[2].splitlines():
                key, colon, meaning = line.strip().partition(": ")
                found |= {key: meaning.replace("``", "")} if colon else {}
    return found


def check_settings(name: str, settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Fit settings to an algorithm's declared types and ranges; return them and all faults."""
    hints: dict[str, Any] = {}
    for cls in _constructors(name):
        hints |= get_type_hints(cls.__init__, include_extras=True)
    bare = [key for key in settings_of(name) if key not in hints]
    if bare:
        what = f"the setting {bare[0]!r} of {name} has no annotation"
        raise ConfigError([f"{what}, wanted its type and range, such as {bare[0]}: Fraction = 0.9"])
    return check({key: hints[key] for key in settings_of(name)}, settings, "algorithm")


def build(name: str, task: Task, settings: Mapping[str, Any]) -> Algorithm:
    """Make an algorithm by name from checked settings."""
    fitted, faults = check_settings(name, settings)
    if faults:
        raise ConfigError(faults)
    return ALGORITHMS[name](task, **fitted)


def too_few_networks(config: Config) -> str | None:
    """What to say where an algorithm has fewer networks than its rule takes; None: it has enough."""
    name, count = config.algorithm.name, networks_of(config)
    settings = {key: p.default for key, p in settings_of(name).items()} | dict(config.algorithm.settings)
    fewest = ALGORITHMS[name].fewest_under(settings)
    if count >= fewest:
        return None
    return f"network.count is {count}, wanted at least {fewest}: under these settings {name}'s networks need each other"


def networks_of(config: Config) -> int:
    """How many networks a run trains: as many as it is told, else as its algorithm wants.

    In mode lite, where a head costs little, at least one for each layer that is read: so all methods, and the baselines
    beside them, know the same of a text. The networks of a method made for one then only predict together.
    """
    wanted = ALGORITHMS[config.algorithm.name].networks
    if config.training.mode == "lite":
        wanted = max(wanted, len(set(config.network.layers)))
    return config.network.count or wanted
