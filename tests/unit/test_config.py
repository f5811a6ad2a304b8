"""Sections, precedence, and every fault in one message."""

import dataclasses
import tomllib

import pytest
import tomli_w

from jointmatch.config import (
    SECTIONS,
    Config,
    TrainingConfig,
    build,
    faults_in,
    keys,
    merge,
    parse_overrides,
    read_toml,
    recipe,
    recipe_names,
)
from jointmatch.errors import ConfigError, DataError, UnknownNameError


def test_no_settings_give_the_defaults():
    assert build({}) == Config()


def test_settings_land_in_their_sections_and_leave_the_rest():
    config = build({"training": {"steps": 7}, "network": {"layers": [1, 0.5]}, "augment": {"strong": "swap"}})
    assert config.training == TrainingConfig(steps=7)
    assert config.network.layers == (1.0, 0.5)
    assert config.augment.strong == ("swap",)


def test_a_config_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        build({}).training.steps = 3  # type: ignore[misc]


def test_the_sections_are_those_of_the_design():
    assert list(SECTIONS) == ["data", "augment", "network", "algorithm", "training", "output"]
    assert "learning_rate" in keys("training")


def test_the_algorithm_s_own_keys_pass_through_for_the_algorithm_to_check():
    config = build({"algorithm": {"name": "fixmatch", "tau": "anything"}})
    assert config.algorithm.name == "fixmatch"
    assert config.algorithm.settings == {"tau": "anything"}


def test_all_faults_come_in_one_message():
    settings = {
        "training": {"learning_rat": 1e-3, "steps": 0, "mode": "lit"},
        "network": {"head_dropout": 1.5},
        "trainnig": {"seed": 1},
        "output": 3,
        "algorithm": {"name": 5},
    }
    with pytest.raises(ConfigError) as raised:
        build(settings)
    message = str(raised.value)
    assert message.startswith("7 settings are wrong:")
    assert len(raised.value.faults) == 7
    for part in (
        "unknown key training.learning_rat. Did you mean 'learning_rate'?",
        "training.steps is 0, wanted a number at least 1",
        "training.mode is 'lit', wanted one of 'auto', 'lite', 'full'",
        "network.head_dropout is 1.5, wanted a number from 0 to 1",
        "unknown section 'trainnig'. Did you mean 'training'?",
        "output is 3, wanted a section with keys",
        "algorithm.name is 5, wanted text",
    ):
        assert part in message
    assert faults_in(settings) == raised.value.faults


def test_one_fault_is_counted_as_one():
    with pytest.raises(ConfigError, match=r"^1 setting is wrong:\n  - training\.seed is -1"):
        build({"training": {"seed": -1}})


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("training", "seed", -1),
        ("training", "steps", 0),
        ("training", "batch_size", -1),
        ("training", "mu", 0),
        ("training", "unlabeled_batch_size", 0),
        ("training", "accumulate", 0),
        ("training", "learning_rate", 0),
        ("training", "learning_rate", float("nan")),
        ("training", "head_learning_rate", -1e-3),
        ("training", "final_rate", 1.1),
        ("training", "warmup_steps", -1),
        ("training", "weight_decay", -0.1),
        ("training", "clip_norm", -1),
        ("training", "average_decay", 1.5),
        ("training", "evaluate_every", 0),
        ("training", "patience", -1),
        ("training", "precision", "fp16"),
        ("training", "update", "both"),
        ("network", "count", 0),
        ("network", "layers", [1.5]),
        ("network", "max_length", 0),
        ("network", "feature_scale", 0),
        ("network", "pooling", "max"),
        ("output", "folds", -1),
        ("data", "conflicts", "ignore"),
        ("data", "text_column", 3),
    ],
)
def test_a_value_out_of_range_is_a_fault(section, key, value):
    (fault,) = faults_in({section: {key: value}})
    assert fault.startswith(f"{section}.{key} is {value!r}, wanted ")


@pytest.mark.parametrize(("section", "key"), [("network", "layers"), ("augment", "strong")])
def test_an_empty_list_of_layers_or_views_is_a_fault(section, key):
    assert len(faults_in({section: {key: []}})) == 1


def test_a_resolved_config_survives_toml():
    config = build({"training": {"steps": 7}, "algorithm": {"tau": 0.9}, "network": {"layers": [1, 0.5]}})
    assert build(tomllib.loads(tomli_w.dumps(config.to_dict()))) == config


def test_what_is_none_is_left_out_of_the_dict():
    assert "unlabeled_batch_size" not in Config().to_dict()["training"]


def test_layers_of_settings_win_key_by_key_from_the_last():
    first = {"training": {"steps": 1, "seed": 1}}
    merged = merge(first, {"training": {"steps": 2}, "data": {"encoding": "cp1252"}}, {})
    assert merged == {"training": {"steps": 2, "seed": 1}, "data": {"encoding": "cp1252"}}
    assert first == {"training": {"steps": 1, "seed": 1}}


def test_a_value_in_place_of_a_section_comes_through_merging_to_be_reported():
    merged = merge({"training": 5}, {"training": {}})  # type: ignore[dict-item]
    assert "training is 5" in faults_in(merged)[0]


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("s.key=0.95", 0.95),
        ("s.key = 3", 3),
        ("s.key=true", True),
        ("s.key=[1.0, 0.5]", [1.0, 0.5]),
        ('s.key="8"', "8"),
        ("s.key=lite", "lite"),
        ("s.key=deletion:0.2+swap", "deletion:0.2+swap"),
        ("s.key=a=b", "a=b"),
        ("s.key=", ""),
        ("s.key=[1", "[1"),
    ],
)
def test_an_option_s_value_is_read_as_toml_else_as_text(pair, value):
    assert parse_overrides([pair]) == {"s": {"key": value}}


def test_later_options_win_and_sections_gather():
    assert parse_overrides(["a.x=1", "b.y=2", "a.x=3"]) == {"a": {"x": 3}, "b": {"y": 2}}


def test_options_of_another_form_are_all_faults():
    with pytest.raises(ConfigError) as raised:
        parse_overrides(["tau=0.9", "algorithm.tau", "algorithm.=1", "training.steps=3"])
    assert [fault.split()[0] for fault in raised.value.faults] == ["'tau=0.9'", "'algorithm.tau'", "'algorithm.=1'"]


def test_a_config_file_is_read(tmp_path):
    (tmp_path / "run.toml").write_text("[training]\nsteps = 3\n")
    assert read_toml(tmp_path / "run.toml") == {"training": {"steps": 3}}


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "There is no config file"), (b"[training\n", "line 1"), (b"a = '\xff'", "is not valid TOML")],
    ids=["missing", "broken", "not utf-8"],
)
def test_a_config_file_that_cannot_be_read_is_the_user_s_fault(tmp_path, content, said):
    path = tmp_path / "run.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_toml(path)


def test_a_folder_is_no_config_file(tmp_path):
    with pytest.raises(DataError):
        read_toml(tmp_path)


def test_the_recipes_ship_with_the_package():
    assert recipe_names() == ("best", "official", "paper", "published")


def test_a_recipe_s_part_for_the_mode_wins_over_its_common_part():
    assert recipe("paper", "full")["training"]["learning_rate"] == 1e-5
    assert recipe("paper", "lite")["training"]["learning_rate"] == 1e-3
    assert recipe("paper", "lite")["training"]["mu"] == 10


def test_an_unknown_recipe_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match=r"Unknown recipe 'papre'\. Did you mean 'paper'"):
        recipe("papre", "lite")
