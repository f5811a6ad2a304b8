"""Every recipe file: known keys, values in range, and a config for each mode and algorithm."""

import tomllib
from importlib import resources
from typing import Any

import pytest

from jointmatch.algorithms import ALGORITHMS, check_settings, settings_of
from jointmatch.augment import parse
from jointmatch.config import SECTIONS, Config, build, keys, recipe, recipe_names
from jointmatch.errors import ConfigError
from jointmatch.resolve import resolve

MODES = ("lite", "full")


def parts_of(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("jointmatch") / "recipes" / f"{name}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", recipe_names())
def test_it_resolves_and_its_values_arrive(name, mode, algorithm):
    if mode in ALGORITHMS[algorithm].unsuited:
        with pytest.raises(ConfigError, match=f"cannot be trained in mode {mode}"):
            resolve({"training": {"recipe": name}, "algorithm": {"name": algorithm}}, mode)
        return
    config = resolve({"training": {"recipe": name}, "algorithm": {"name": algorithm}}, mode)
    assert (config.training.recipe, config.training.mode, config.algorithm.name) == (name, mode, algorithm)
    resolved = config.to_dict()
    for section, values in recipe(name, mode, algorithm).items():
        fixed = set(ALGORITHMS[algorithm].requires.get(section, {}))
        if section == "augment" and ALGORITHMS[algorithm].one_view:
            fixed |= {"strong", "strong_per_network"}  # the student reads the weak view
        if section == "network" and not ALGORITHMS[algorithm].uses_unlabeled:
            fixed |= {"word_reader"}  # nobody would teach it
        assert {k: v for k, v in values.items() if k not in fixed}.items() <= resolved[section].items()
    assert check_settings(algorithm, config.algorithm.settings)[1] == []


@pytest.mark.parametrize("name", recipe_names())
def test_it_has_only_known_parts_sections_and_keys(name):
    parts = parts_of(name)
    owned = parts.pop("algorithms", {})
    assert set(owned) <= set(ALGORITHMS)
    for algorithm, own in [(None, parts), *owned.items()]:
        for part, sections in own.items():
            assert part in ("all", *MODES)
            for section, values in sections.items():
                # An algorithm's settings stand with the algorithm: the same word may mean something else in another.
                assert section in (SECTIONS if algorithm else set(SECTIONS) - {"algorithm"})
                known = keys(section) if section != "algorithm" else settings_of(algorithm)
                assert set(values) <= set(known), (algorithm, part, section)


@pytest.mark.parametrize("name", recipe_names())
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_it_leaves_to_the_user_what_is_the_user_s(name, mode, algorithm):
    values = recipe(name, mode, algorithm)
    assert set(values) <= {"augment", "network", "algorithm", "training"}
    assert {"backbone", "count"}.isdisjoint(values["network"])
    assert {"recipe", "mode", "seed", "device", "precision"}.isdisjoint(values["training"])
    assert "name" not in values.get("algorithm", {})


@pytest.mark.parametrize("name", recipe_names())
@pytest.mark.parametrize("mode", MODES)
def test_its_views_can_be_made(name, mode):
    config = build({"augment": recipe(name, mode)["augment"]})
    chains = [parse(spec) for spec in (config.augment.weak, *config.augment.strong)]
    assert len(chains) == 1 + len(config.augment.strong) >= 2


def resolved(name: str, mode: str = "full") -> Config:
    return resolve({"training": {"recipe": name}}, mode)


def test_paper_has_exactly_the_paper_s_values():
    """Algorithm 1 for AG News: B 8, mu 10, learning rate 1e-5, w_u 1; tau 0.98, lambda 0.9, delta 0.9."""
    config = resolved("paper")
    assert config.algorithm.settings == {
        "tau": 0.98,
        "momentum": 0.9,
        "delta": 0.9,
        "threshold": "adaptive",
        "class_mean": "own",
        "labelling": "cross",
        "weighting": "disagreement",
        "disagreement": "label",
        "unlabeled_weight": 1.0,
    }
    assert (config.augment.weak, config.augment.strong) == ("synonym:0.3", ("backtranslation",))
    training = config.training
    assert (training.batch_size, training.mu, training.unlabeled_batch_size) == (8, 10, None)
    assert (training.learning_rate, training.head_learning_rate, training.schedule) == (1e-5, None, "constant")
    assert (training.update, training.average_decay, training.warm_start) == ("joint", 0.0, False)
    assert (training.evaluate_every, training.patience, training.weight_decay) == (25, 10, 0.01)
    assert (training.clip_norm, training.adam_epsilon, config.network.max_length) == (0.0, 1e-8, 255)


def test_official_differs_from_paper_only_where_the_published_code_does():
    paper, official = (resolved(name).to_dict() for name in ("paper", "official"))
    differ = {
        f"{section}.{key}": official[section][key]
        for section in paper
        for key in paper[section]
        if paper[section][key] != official[section][key]
    }
    assert differ == {
        "training.recipe": "official",
        "augment.weak": "synonym:0.3+synonym:0.05",
        "augment.strong": ["backtranslation+synonym:0.05"],
        "augment.fresh": True,
        "training.update": "alternating",
        "algorithm.class_mean": "shared",
        "algorithm.disagreement": "confidence",
    }


@pytest.mark.parametrize("name", ["paper", "official"])
def test_lite_changes_only_the_learning_rate_of_paper_and_official(name):
    assert parts_of(name)["lite"] == {"training": {"learning_rate": 1e-3}}
    assert "full" not in parts_of(name)


def test_best_lets_the_two_networks_read_different_layers_in_lite():
    assert resolved("best", "lite").network.layers == (1.0, 0.67)


def test_best_is_the_default():
    assert resolve({}, "lite") == resolved("best", "lite")
