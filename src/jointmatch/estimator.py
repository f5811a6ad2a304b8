"""``TextClassifier``: the scikit-learn interface."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from jointmatch.config import build, merge
from jointmatch.data import as_texts, splits_of_lists
from jointmatch.data.labels import class_ids, clean, is_minus_one
from jointmatch.errors import ConfigError, DataError
from jointmatch.listener import Printing
from jointmatch.model import Model
from jointmatch.precedence import check_agreement
from jointmatch.resolve import as_settings
from jointmatch.run import run
from jointmatch.types import Label

SETTING = "settings__"
ARGUMENTS = {  # section and key -> the argument that sets it
    ("algorithm", "name"): "algorithm",
    ("network", "backbone"): "backbone",
    ("training", "recipe"): "recipe",
    ("training", "mode"): "mode",
    ("training", "seed"): "random_state",
    ("data", "unlabeled_value"): "unlabeled_value",
}


class TextClassifier(ClassifierMixin, BaseEstimator):
    """Classify raw texts from a few labels per class and many unlabelled texts.

    Args:
        algorithm: ``jointmatch``, ``fixmatch``, ``supervised``; see ``jointmatch algorithms``.
        recipe: ``best``, ``paper``, ``official`` or ``published``.
        backbone: ``auto`` (the embedded MiniLM), a folder, or a hub name.
        mode: ``lite`` (frozen encoder), ``full``, or ``auto``, which picks by hardware.
        random_state: Seed of all random choices; None means 0.
        unlabeled_value: The label that, besides None, NaN and "", means "no label", in place of -1; with "", no other
            label does, and -1 is a class.
        settings: Other settings by path, such as ``{"algorithm.tau": 0.95}``; in a parameter search, use
            ``settings__algorithm.tau``. One that contradicts an argument is an error.
        verbose: Whether to report on standard error what is done and how training goes.

    Attributes:
        classes_: The labels, in the order of ``predict_proba``'s columns.
        model_: The trained model.
        history_: One record per evaluation.
        result_: What the run recorded: data counts, termination, seconds.
        termination_condition_: Why training stopped.
    """

    def __init__(
        self,
        algorithm: str = "jointmatch",
        recipe: str = "best",
        backbone: str = "auto",
        mode: str = "auto",
        random_state: int | None = None,
        unlabeled_value: Any = None,
        settings: Mapping[str, Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.algorithm = algorithm
        self.recipe = recipe
        self.backbone = backbone
        self.mode = mode
        self.random_state = random_state
        self.unlabeled_value = unlabeled_value
        self.settings = settings
        self.verbose = verbose

    def set_params(self, **params: Any) -> TextClassifier:
        """Set parameters as scikit-learn does; ``settings__algorithm.tau`` sets one setting, for use in a search."""
        own = {name.removeprefix(SETTING): params.pop(name) for name in list(params) if name.startswith(SETTING)}
        super().set_params(**params)
        if own:
            self.settings = {**(self.settings or {}), **own}
        return self

    def fit(
        self,
        X: Iterable[Any],  # noqa: N803 - scikit-learn's name
        y: Iterable[Any],
        unlabeled: Iterable[Any] | None = None,
        dev: tuple[Iterable[Any], Iterable[Any]] | None = None,
    ) -> TextClassifier:
        """Train on texts; those labelled None, NaN, "" or -1 count as unlabelled.

        Args:
            X: Texts.
            y: One label per text, of any type.
            unlabeled: More texts without labels.
            dev: Held-out texts and their labels: the weights that score best on them are kept, and
                ``result_["scores"]["dev"]`` has their scores.
        """
        if y is None:
            raise DataError('Got None as labels, wanted one per text: None, "" or -1 for each text that has none.')
        texts, labels = _paired(X, y)
        settings = self._settings()
        data = build({"data": settings.get("data", {})}).data
        extra = None if unlabeled is None else _texts(unlabeled)
        splits = splits_of_lists(texts, labels, extra, data, None if dev is None else _paired(*_pair(dev)))
        outcome = run(splits, settings, listener=Printing() if self.verbose else None)
        for warning in outcome.result["warnings"]:
            warnings.warn(warning, UserWarning, stacklevel=2)
        self.model_ = outcome.model
        self.classes_ = _as_array(outcome.model.classes)
        self.history_, self.result_ = outcome.history, outcome.result
        self.termination_condition_ = outcome.result["termination"]
        return self

    def _settings(self) -> dict[str, dict[str, Any]]:
        own: dict[str, dict[str, Any]] = {
            "algorithm": {"name": self.algorithm},
            "network": {"backbone": self.backbone},
            "training": {"recipe": self.recipe, "mode": self.mode, "seed": _seed(self.random_state)},
            "output": {"baselines": False},
        }
        if self.unlabeled_value is not None:
            own["data"] = {"unlabeled_value": self.unlabeled_value}
        settings = as_settings(self.settings or {})
        check_agreement(self._given(own), settings, lambda *place: ARGUMENTS[place], "in settings")
        return merge(own, settings)

    def _given(self, own: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Of the settings that arguments give, those whose argument is not left at its default."""
        default = TextClassifier()
        changed = [place for place, name in ARGUMENTS.items() if getattr(self, name) != getattr(default, name)]
        return merge(*({section: {key: own[section][key]}} for section, key in changed))

    def predict_proba(self, X: Iterable[Any]) -> np.ndarray:  # noqa: N803
        """Return probabilities of shape (texts, classes)."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(_texts(X))

    def predict(self, X: Iterable[Any]) -> np.ndarray:  # noqa: N803
        """Return the most probable label of each text, in the type it was given in."""
        probs = self.predict_proba(X)
        return self.classes_[probs.argmax(-1)]

    def score(self, X: Iterable[Any], y: Iterable[Any], sample_weight: Any = None) -> float:  # noqa: N803
        """Return the accuracy on the rows that have a label: a cross-validation fold may hold unlabelled ones."""
        check_is_fitted(self, "model_")
        texts, given = _paired(X, y)
        labels = self._known_labels(given)
        rows = [i for i, label in enumerate(labels) if label is not None]
        if not rows:
            return float("nan")
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        ids = class_ids(labels, self.model_.classes)  # "1" in a file means class 1
        truth = np.array([ids.get(labels[i], -1) for i in rows])  # type: ignore[arg-type]
        right = self.predict_proba([texts[i] for i in rows]).argmax(-1) == truth
        return float(np.average(right, weights=weights))

    def _known_labels(self, given: list[Any]) -> list[Label | None]:
        """Return labels, None where there is none; -1 counts as none unless the model has learnt it as a class."""
        labels = clean(given, self.unlabeled_value)
        if any(map(is_minus_one, self.model_.classes)):
            return labels
        return [None if is_minus_one(label) else label for label in labels]

    def save(self, folder: str | Path) -> None:
        """Write a model folder that ``load`` and the command line can read."""
        check_is_fitted(self, "model_")
        self.model_.save(folder)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.non_deterministic = False
        return tags


def load(folder: str | Path, device: str = "cpu") -> TextClassifier:
    """Load a fitted classifier from a model folder.

    It predicts as before. The algorithm's settings are restored, so that a clone trains by the same rule; others, such
    as ``training.steps``, must be set again.
    """
    model = Model.load(folder, device)
    facts = model.facts
    flat = {f"algorithm.{key}": value for key, value in facts.settings.items()}
    classifier = TextClassifier(
        facts.algorithm,
        facts.recipe,
        facts.backbone,
        facts.mode,
        facts.seed,
        unlabeled_value=facts.unlabeled_value,
        settings=flat or None,
    )
    classifier.model_ = model
    classifier.classes_ = _as_array(model.classes)
    return classifier


def _as_array(classes: list[Label]) -> np.ndarray:
    """Return an array that keeps the labels' types: numpy would turn a mix of 1 and "a" into text."""
    return np.array(classes, dtype=object if len({type(c) for c in classes}) > 1 else None)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if not isinstance(random_state, (int, np.integer)) or isinstance(random_state, bool):
        raise ConfigError([f"random_state is {random_state!r}, wanted a whole number, None, or one of numpy's"])
    return int(random_state)


def _pair(dev: Any) -> tuple[Any, Any]:
    if not isinstance(dev, (tuple, list)) or len(dev) != 2:
        raise DataError(f"Got {type(dev).__name__} as dev, wanted two: (texts, labels).")
    return dev[0], dev[1]


def _paired(texts: Any, labels: Any) -> tuple[list[str], list[Any]]:
    own = _texts(texts), _column(labels, "labels")
    if len(own[0]) != len(own[1]):
        raise DataError(f"Got {len(own[0])} texts and {len(own[1])} labels, wanted as many of each.")
    return own


def _texts(values: Any) -> list[str]:
    return as_texts(_column(values, "texts"))


def _column(values: Any, what: str) -> list[Any]:
    if isinstance(values, (str, bytes)):
        raise DataError(f"Got one string as {what}, wanted a list of them: [{values[:20]!r}, ...].")
    if hasattr(values, "ndim") and values.ndim == 2 and values.shape[1] == 1:  # a data frame or array with one column
        values = values.iloc[:, 0] if hasattr(values, "iloc") else values[:, 0]
    elif getattr(values, "ndim", 1) != 1:
        raise DataError(f"Got {what} with {values.ndim} dimensions, wanted one column of them.")
    if not isinstance(values, Iterable):
        raise DataError(f"Got {type(values).__name__} as {what}, wanted a list of them.")
    return list(values)
