"""Settings from sources that contradict each other are refused, where one would silently lose."""

import tomllib
from pathlib import Path

import pytest
import tomli_w

from jointmatch.config import Settings, merge, recipe
from jointmatch.errors import ConfigError, InputError
from jointmatch.precedence import check_file, check_options
from jointmatch.resolve import resolve

PATH = Path("run/config.toml")
PAPER, OFFICIAL = {"training": {"recipe": "paper"}}, {"training": {"recipe": "official"}}
FIXMATCH = {"algorithm": {"name": "fixmatch"}}


def of_a_run(settings, mode="lite"):
    """What a run with these settings leaves as its config.toml."""
    return tomllib.loads(tomli_w.dumps(resolve(settings, mode).to_dict()))


def refusal(file, line):
    with pytest.raises(InputError) as raised:
        check_file(PATH, file, line)
    return str(raised.value)


def test_a_run_s_settings_beside_another_recipe_are_refused_with_their_number_and_the_first():
    """'official' differs from 'paper' in six: weak, strong, fresh, class_mean, disagreement and update."""
    assert refusal(of_a_run(PAPER), OFFICIAL) == (
        "Got recipe official beside run/config.toml, which holds recipe paper and fixes 6 settings that recipe "
        "official would change: augment.weak from 'synonym:0.3' to 'synonym:0.3+synonym:0.05'; augment.strong from "
        "['backtranslation'] to ['backtranslation+synonym:0.05']; augment.fresh from False to True; and 3 more. Leave "
        "recipe official out to train what the file says, or take such settings out of it: a file that holds only what "
        "you change goes with any recipe."
    )


def test_a_run_s_settings_beside_another_algorithm_are_refused_with_those_it_does_not_have():
    """FixMatch has neither momentum nor a threshold to choose, nor class means; it learns from its own labels."""
    told = refusal(of_a_run(PAPER), FIXMATCH)
    assert "Got algorithm fixmatch beside run/config.toml, which holds algorithm jointmatch and fixes " in told
    assert "algorithm.momentum from 0.9 to unset; algorithm." in told


def test_both_are_named_where_both_are_others():
    told = refusal(of_a_run({}), merge(PAPER, FIXMATCH))
    assert "Got recipe paper and algorithm fixmatch beside run/config.toml" in told
    assert "which holds recipe best and algorithm jointmatch and fixes" in told


def test_another_mode_is_refused_since_its_rates_are_others():
    """A run's file in lite holds 5e-3, at which whole networks diverge; 'auto' may come to lite as well."""
    told = refusal(of_a_run({"training": {"mode": "lite"}}), {"training": {"mode": "full"}})
    assert "Got mode full beside run/config.toml, which holds mode lite and fixes " in told
    assert "Leave mode full out" in told
    check_file(PATH, of_a_run({"training": {"mode": "lite"}}), {"training": {"mode": "auto"}})
    check_file(PATH, {"training": {"mode": "lite"}, "algorithm": {"tau": 0.8}}, {"training": {"mode": "full"}})


def test_one_setting_is_enough_to_refuse_unless_the_command_line_gives_it_too():
    """The recipes agree on the batch; steps are the user's own."""
    file = {"training": {"recipe": "paper", "update": "joint", "batch_size": 8, "steps": 7}}
    told = refusal(file, OFFICIAL)
    assert "fixes 1 setting that recipe official would change: training.update from 'joint' to 'alternating'. " in told
    check_file(PATH, file, {"training": {"recipe": "official", "update": "alternating"}})


def test_settings_are_compared_in_the_mode_of_each_source():
    """A head's rate of 1e-3 is the paper's in lite, 1e-5 in full."""
    file = {"training": {"recipe": "paper", "mode": "lite", "learning_rate": 1e-3}}
    assert "training.learning_rate from 0.001 to 0.005" in refusal(file, {"training": {"recipe": "best"}})
    full = {"training": {"recipe": "best", "mode": "full"}}
    assert "training.learning_rate from 0.001 to 0.0001" in refusal(file, full)
    own = {"training": {"recipe": "paper", "mode": "full", "learning_rate": 1e-3}}
    check_file(PATH, own, {"training": {"recipe": "best"}})


def test_a_default_of_the_algorithm_counts_where_the_recipe_is_silent():
    """'best' has soft labels in lite; of them 'paper' says nothing, and JointMatch's default is hard ones."""
    assert recipe("best", "lite")["algorithm"]["targets"] == "soft"
    assert "targets" not in recipe("paper", "lite")["algorithm"]
    told = refusal({"training": {"recipe": "best"}, "algorithm": {"targets": "soft"}}, PAPER)
    assert "algorithm.targets from 'soft' to 'hard'" in told


@pytest.mark.parametrize(
    "file",
    [
        {"algorithm": {"tau": 0.8}},
        {"algorithm": {"tau": 0.9}},  # as in 'best', but the file is for no recipe
        {"training": {"recipe": "best"}, "algorithm": {"tau": 0.8}},
        {"training": {"recipe": "best", "seed": 3}},
        {"training": {"recipe": "best"}},
    ],
)
def test_a_file_of_the_user_s_own_changes_goes_with_any_recipe(file):
    check_file(PATH, file, PAPER)


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"training": {"recipe": "best"}, "algorithm": {"name": "jointmatch"}},
        {"training": {"mode": "auto", "seed": 3}, "network": {"backbone": "minilm"}},
    ],
)
def test_a_run_s_settings_go_with_its_own_recipe_and_with_single_settings_beside_it(line):
    check_file(PATH, of_a_run({}), line)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ({"training": 5}, PAPER),
        ({"trainin": {"steps": 1}, "training": {"recipe": "best"}}, PAPER),
        ({"training": {"recipe": 5, "steps": 300}}, PAPER),
        ({"training": {"recipe": "best", "steps": 300}}, {"training": {"recipe": "papre"}}),
        ({"algorithm": {"name": "jointmatch", "tau": 0.9}}, {"algorithm": {"name": "fixmach"}}),
    ],
)
def test_what_is_wrong_by_itself_is_left_to_be_reported_with_all_faults(file, line):
    check_file(PATH, file, line)


def test_an_option_and_a_set_that_differ_are_all_named():
    options: Settings = {
        "training": {"mode": "lite", "seed": 1, "recipe": "best"},
        "algorithm": {"name": "sat"},
        "data": {"text_column": "a"},
    }
    overrides: Settings = {
        "training": {"mode": "full", "seed": 1, "steps": 3},
        "algorithm": {"name": "uda"},
        "data": {"text_column": "b"},
    }
    with pytest.raises(ConfigError) as raised:
        check_options(options, overrides)
    assert raised.value.faults == [
        "--mode is 'lite', but training.mode is 'full' in --set: give only one of them",
        "--algorithm is 'sat', but algorithm.name is 'uda' in --set: give only one of them",
        "--text-column is 'a', but data.text_column is 'b' in --set: give only one of them",
    ]


@pytest.mark.parametrize("strong", ["swap", ["swap"]])
def test_equal_values_are_no_contradiction_be_they_alone_or_in_a_list(strong):
    check_options({"augment": {"strong": ["swap"]}}, {"augment": {"strong": strong}})
