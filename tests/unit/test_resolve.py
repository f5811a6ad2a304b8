"""From what the user said to a complete, checked config."""

import pytest
import torch

from jointmatch.algorithms import networks_of
from jointmatch.config import recipe
from jointmatch.errors import ConfigError
from jointmatch.resolve import as_settings, choose_mode, faults_in, resolve


def test_the_user_wins_over_the_recipe_and_the_recipe_over_the_defaults():
    config = resolve({"training": {"recipe": "paper", "steps": 3}}, "full")
    assert config.training.steps == 3
    assert config.training.patience == recipe("paper", "full")["training"]["patience"] == 10
    assert config.training.accumulate == 1
    assert config.training.mode == "full"
    assert config.algorithm.settings["delta"] == 0.9


def test_recipe_values_the_algorithm_does_not_take_are_left_out():
    settings = resolve(
        {"algorithm": {"name": "supervised"}, "training": {"recipe": "paper"}}, "lite"
    ).algorithm.settings
    assert "tau" not in settings
    assert "delta" not in settings


def test_the_user_s_own_values_the_algorithm_does_not_take_are_faults():
    with pytest.raises(ConfigError, match=r"unknown key algorithm\.momentum"):
        resolve({"algorithm": {"name": "fixmatch", "momentum": 0.5}}, "lite")


def test_every_part_s_faults_come_in_one_message():
    settings = {
        "training": {"recipe": "bset", "stepps": 1, "seed": -1},
        "algorithm": {"tau": 2, "detla": 0.5, "labelling": "both"},
        "augment": {"weak": "delition", "strong": ["swap:3", "none"]},
        "network": {"backbone": "minlm"},
    }
    with pytest.raises(ConfigError) as raised:
        resolve(settings, "lite")
    faults = raised.value.faults
    assert len(faults) == 9
    for part in (
        "Unknown recipe 'bset'. Did you mean 'best'?",
        "unknown key training.stepps. Did you mean 'steps'?",
        "training.seed is -1",
        "algorithm.tau is 2, wanted a number from 0 to 1",
        "unknown key algorithm.detla. Did you mean 'delta'?",
        "algorithm.labelling is 'both', wanted one of 'own', 'cross', 'others'",
        "Unknown augmenter 'delition'. Did you mean 'deletion'?",
        "augmenter 'swap:3': got '3' behind the colon, wanted a rate from 0 to 1",
        "Unknown backbone 'minlm'. Did you mean 'minilm'?",
    ):
        assert sum(part in fault for fault in faults) == 1, part


def test_an_unknown_algorithm_gets_the_nearest_name_and_the_other_faults_still_show():
    faults = faults_in({"algorithm": {"name": "jointmacth", "tau": 5}, "training": {"steps": 0}})
    assert any("Unknown algorithm 'jointmacth'. Did you mean 'jointmatch'?" in fault for fault in faults)
    assert any("training.steps is 0" in fault for fault in faults)


def test_every_fault_of_one_chain_of_augmenters_shows():
    assert len(faults_in({"augment": {"weak": "delition+swpa+masking:7"}})) == 3


@pytest.mark.parametrize("section", ["training", "algorithm", "augment", "network"])
def test_a_value_in_place_of_a_section_is_a_fault(section):
    assert any(fault.startswith(f"{section} is 5, wanted a section") for fault in faults_in({section: 5}))


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("augment", "strong", 5),
        ("augment", "strong", True),
        ("training", "recipe", 5),
        ("algorithm", "name", 5),
        ("algorithm", "name", ["jointmatch"]),
    ],
)
def test_a_name_of_the_wrong_type_is_a_fault_like_any_other(section, key, value):
    assert any(f"{section}.{key} is {value!r}" in fault for fault in faults_in({section: {key: value}}))


def test_a_folder_without_an_encoder_is_a_fault(tmp_path):
    (fault,) = faults_in({"network": {"backbone": str(tmp_path)}})
    assert "has no config.json" in fault


def test_good_settings_have_no_faults(tiny_backbone):
    settings = {
        "network": {"backbone": str(tiny_backbone)},
        "augment": {"weak": "none", "strong": "deletion:0.2+swap"},
        "algorithm": {"name": "jointmatch", "tau": 0.95, "unlabeled_weight": 2},
    }
    assert faults_in(settings) == []
    config = resolve(settings, "lite")
    assert config.algorithm.settings["tau"] == 0.95
    assert config.augment.strong == ("deletion:0.2+swap",)


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_the_mode_that_is_set_is_taken(mode):
    assert choose_mode({"training": {"mode": mode}}, 10) == (mode, "as set")


@pytest.mark.parametrize(
    ("gpu", "device", "pool", "mode"),
    [
        (False, "auto", 100, "lite"),
        (True, "auto", 100, "full"),
        (True, "cuda", 100, "full"),
        (True, "cuda:0", 100, "full"),
        (True, "cpu", 100, "lite"),
        (True, "auto", 0, "lite"),
    ],
)
def test_auto_picks_by_hardware_and_pool_and_gives_a_reason(monkeypatch, gpu, device, pool, mode):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    chosen, reason = choose_mode({"training": {"device": device}}, pool)
    assert chosen == mode
    assert len(reason.split()) > 3


def test_a_value_in_place_of_the_training_section_leaves_the_mode_to_be_chosen():
    assert choose_mode({"training": 5}, 10)[0] in ("lite", "full")


def test_flat_settings_become_sections():
    assert as_settings({"algorithm.tau": 0.9, "training.steps": 3, "algorithm.delta": 0.5}) == {
        "algorithm": {"tau": 0.9, "delta": 0.5},
        "training": {"steps": 3},
    }


def test_a_flat_setting_without_a_section_is_a_fault():
    with pytest.raises(ConfigError, match=r"'tau' was given as a setting, wanted section\.key"):
        as_settings({"tau": 0.9})


@pytest.mark.parametrize(
    ("settings", "mode", "count"),
    [
        ({}, "lite", 2),
        ({"algorithm": {"name": "fixmatch"}}, "lite", 2),  # one for each layer of the recipe
        ({"algorithm": {"name": "fixmatch"}}, "full", 1),
        ({"algorithm": {"name": "fixmatch"}, "training": {"recipe": "paper"}}, "lite", 1),  # which reads one layer
        ({"algorithm": {"name": "fixmatch"}, "network": {"count": 1}}, "lite", 1),
        ({"algorithm": {"name": "multimatch"}}, "lite", 3),
        ({"network": {"count": 4}}, "full", 4),
    ],
)
def test_a_run_has_as_many_networks_as_it_is_told_or_its_algorithm_wants_and_in_lite_one_for_each_layer(
    settings, mode, count
):
    assert networks_of(resolve(settings, mode)) == count


@pytest.mark.parametrize(
    ("settings", "mode", "reads"),
    [
        ({}, "lite", True),
        ({}, "full", True),
        ({"network": {"word_reader": False}}, "full", False),
        ({"network": {"word_reader": False}}, "lite", False),
        ({"training": {"recipe": "paper"}}, "lite", False),
        ({"training": {"recipe": "paper"}}, "full", False),
        ({"training": {"recipe": "paper"}, "network": {"word_reader": True}}, "full", True),
        ({"algorithm": {"name": "supervised"}}, "lite", False),
        ({"algorithm": {"name": "supervised"}, "network": {"word_reader": False}}, "lite", False),
    ],
)
def test_words_are_read_under_recipe_best_and_where_it_is_said_but_never_where_no_pool_is(settings, mode, reads):
    assert resolve(settings, mode).network.word_reader is reads


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_a_reader_of_words_that_nobody_would_teach_is_refused(mode):
    asked = {"algorithm": {"name": "supervised"}, "network": {"word_reader": True}}
    with pytest.raises(ConfigError, match="word_reader is True, but supervised learns from no unlabelled text"):
        resolve(asked, mode)
