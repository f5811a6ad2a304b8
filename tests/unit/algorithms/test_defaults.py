"""What each method is unless told otherwise: the numbers of its paper or code, or those its file says are ours."""

import inspect

import pytest

from jointmatch.algorithms import ALGORITHMS, Algorithm
from jointmatch.algorithms.composed import Composed

SETTINGS = {
    "aumst": {
        **{"tau": 0.9, "percentile": 0.5, "rounds": 2, "teacher_share": 0.2, "probe_share": 0.4},
        **{"labeled_weight": 0.5, "unlabeled_weight": 0.5},
    },
    "coteaching": {"noise": 0.2, "warmup": 0.05},
    "coteachingplus": {"start": 0.0, "fallback": 0.28},
    "cotraining": {"tau": 0.95, "labelling": "cross"},
    "crisismatch": {"tau": 0.75, "alpha": 0.75, "ramp_steps": 1000, "unlabeled_weight": 10.0},
    "decoupling": {"tau": 0.95, "weighting": "disagreement", "delta": 1.0},
    "decrisismb": {"tau": 0.9, "bank_size": 200, "per_class": 5, "ramp_steps": 1000, "unlabeled_weight": 20.0},
    "fixmatch": {"tau": 0.95},
    "fixmatchensemble": {"tau": 0.95},
    "flexmatch": {"tau": 0.95, "warm_up": True},
    "freematch": {"momentum": 0.999, "fairness_weight": 0.001},
    "freematchensemble": {"momentum": 0.999, "fairness_weight": 0.001},
    "jointmatch": {
        **{"tau": 0.98, "momentum": 0.9, "threshold": "adaptive", "adaptivity": 1.0, "reference": "uniform"},
        **{"class_mean": "own", "labelling": "cross", "weighting": "disagreement"},
    },
    "marginmatch": {
        **{"tau": 0.95, "warm_up": True, "smoothing": 0.997, "percentile": 0.95},
        **{"virtual_share": 0.01, "virtual_draws": 5, "virtual_begin": 0.08, "virtual_end": 0.9},
    },
    "meanteacher": {"ramp": 0.25, "unlabeled_weight": 100.0, "targets": "soft"},
    "mixtext": {
        **{"alpha": 16.0, "ramp": 1.0, "augmented_weight": 1.0, "hinge_weight": 0.0, "margin": 0.7},
        **{"targets": "soft", "temperature": 0.5},
    },
    "multimatch": {
        **{"momentum": 0.999, "smoothing": 0.997, "quantile": 0.05},
        **{"cut_floor": False, "odd_weight": 3.0, "epochs": 10, "unlabeled_weight": 3.0},
    },
    "pcm": {"tau": 0.95},
    "pseudolabel": {"tau": 0.95, "ramp": 0.4},
    "s2tcbdd": {
        **{"margin": 0.01, "momentum": 0.99, "entropy_weight": 1.0, "tau": 0.0},
        **{"targets": "soft", "temperature": 0.5},
    },
    "sat": {"tau": 0.99, "ranker_learning_rate": 1e-4, "unlabeled_weight": 0.5},
    "softmatch": {"momentum": 0.999, "sigmas": 2.0, "weight_alignment": "uniform"},
    "supervised": {"unlabeled_weight": 1.0},
    "uda": {"beta": 0.0, "annealing": "linear", "targets": "soft", "temperature": 0.85},
}

COMPOSED = {
    **{"labelling": "own", "weighting": "uniform", "delta": 0.9, "delta_rule": "constant", "normalize_weights": False},
    **{"disagreement": "label", "targets": "hard", "temperature": 1.0},
    **{"alignment": "none", "balance": (), "alignment_momentum": 0.9},
}

TRAITS: dict[str, dict[str, object]] = {
    "aumst": {"extra_classes": 1, "in_rounds": True},
    "coteaching": {"networks": 2, "one_view": True},
    "coteachingplus": {"networks": 2, "one_view": True},
    "cotraining": {"networks": 2, "one_view": True},
    "crisismatch": {"num_views": 2, "every_view": True},
    "decoupling": {"networks": 2, "one_view": True},
    "decrisismb": {"one_view": True},
    "fixmatchensemble": {"networks": 2},
    "freematchensemble": {"networks": 2},
    "jointmatch": {"networks": 2},
    "marginmatch": {"extra_classes": 1},
    "meanteacher": {"one_view": True},
    "mixtext": {"num_views": 3, "every_view": True},
    "multimatch": {"networks": 3, "shared_encoder": True},
    "pcm": {"networks": 2},
    "pseudolabel": {"one_view": True},
    "sat": {"num_views": 3, "learns_views": True},
    "supervised": {"uses_unlabeled": False},
}

REQUIRES = {
    "meanteacher": {
        "training": {"average_decay": 0.999, "average_warmup": True, "average_labels": True, "label_dropout": True}
    },
    "multimatch": {"network": {"layers": (1.0,)}},
    "pcm": {"network": {"head_per_network": ("linear", "cosine"), "class_words": 50}},
    "s2tcbdd": {"network": {"head": "cosine"}},
    "sat": {"augment": {"weak": "none"}},
}

COMMON: dict[str, object] = {
    **{"networks": 1, "uses_unlabeled": True, "one_view": False, "num_views": 1, "every_view": False},
    **{"learns_views": False, "learning_rate": 1e-3, "extra_classes": 0, "in_rounds": False, "shared_encoder": False},
}


def defaults(cls: type) -> dict[str, object]:
    """Of the settings that the class's own constructor names."""
    parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_methods_settings_are_its_papers_or_codes_unless_told_otherwise(name):
    assert defaults(ALGORITHMS[name]) == SETTINGS[name]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_method_says_of_itself_what_training_must_know(name):
    assert {trait: getattr(ALGORITHMS[name], trait) for trait in COMMON} == COMMON | TRAITS.get(name, {})


@pytest.mark.parametrize("name", SETTINGS)
def test_a_method_asks_of_the_other_sections_what_it_is_not_itself_without(name):
    assert ALGORITHMS[name].requires == REQUIRES.get(name, {})


def test_a_composed_method_is_fixmatch_in_all_it_does_not_say():
    assert defaults(Composed) == COMPOSED
    assert defaults(Algorithm) == {"unlabeled_weight": 1.0}


def test_every_method_is_in_the_table():
    absent = {name for name in ALGORITHMS if not ALGORITHMS.source(name)} - set(SETTINGS)
    assert not absent, f"put the defaults of {', '.join(sorted(absent))} into SETTINGS, at the top of this file"
