"""Settings from a file, options and recipes: which one wins, and what goes together."""

from __future__ import annotations

import json
import tomllib

from tests.end_to_end.conftest import FAST


def test_set_wins_over_the_config_file_and_the_config_over_the_recipe(command, toy, tiny_backbone, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text("[training]\nsteps = 7\nevaluate_every = 3\n[algorithm]\ntau = 0.7\n[output]\nfolds = 0\n")
    words = ("--config", config, "--set", "algorithm.tau=0.6", "--backbone", tiny_backbone, "--mode", "lite")
    ran = command("train", toy / "train.csv", "--output", tmp_path / "run", *words, "--device", "cpu")
    assert ran.code == 0, ran.err
    stored = tomllib.loads((tmp_path / "run/config.toml").read_text())
    assert (stored["training"]["steps"], stored["algorithm"]["tau"]) == (7, 0.6)
    assert stored["network"]["head_init"] == "means"
    steps = [json.loads(line)["step"] for line in (tmp_path / "run/history.jsonl").read_text().splitlines()]
    assert steps == [3, 6, 7]


def test_single_settings_win_over_the_config_file_of_a_run(command, toy, tiny_backbone, tmp_path):
    words = ("train", toy / "train.csv", "--output", tmp_path / "run", "--quiet")
    assert command(*words, "--backbone", tiny_backbone, *FAST).code == 0
    file = (tmp_path / "run").rename(tmp_path / "earlier") / "config.toml"
    (tmp_path / "other").symlink_to(tiny_backbone)
    steps = ("--set", "training.steps=1", "--set", "training.seed=7")
    own = ("--seed", 7, "--backbone", tmp_path / "other", *steps)
    ran = command(*words, "--config", file, "--recipe", "best", "--algorithm", "jointmatch", *own)
    assert ran.code == 0, ran.err
    stored = tomllib.loads((tmp_path / "run/config.toml").read_text())
    assert (stored["training"]["seed"], stored["training"]["steps"]) == (7, 1)
    assert stored["network"]["backbone"] == str(tmp_path / "other")
    assert stored["output"]["folds"] == 2  # as the file says
    again = command(*words[:2], "--output", tmp_path / "full", "--config", file, "--mode", "full")
    assert (again.code, "Got mode full beside" in again.err) == (2, True)


def test_a_file_of_one_s_own_changes_goes_with_any_recipe(command, toy, tiny_backbone, tmp_path):
    (tmp_path / "small.toml").write_text("[algorithm]\ntau = 0.8\n")
    words = ("--config", tmp_path / "small.toml", "--recipe", "paper", "--backbone", tiny_backbone, *FAST, "--quiet")
    ran = command(
        "train", toy / "train.csv", "--output", tmp_path / "run", *words, "--weak", "none", "--strong", "swap"
    )
    assert ran.code == 0, ran.err
    stored = tomllib.loads((tmp_path / "run/config.toml").read_text())
    assert (stored["algorithm"]["tau"], stored["algorithm"]["weighting"]) == (0.8, "disagreement")
