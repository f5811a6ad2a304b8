"""Whole runs: the same seed gives the same numbers, however often they are looked at or interrupted."""

import random

import numpy as np
import pytest
import torch

from jointmatch.errors import Interrupted
from jointmatch.training.checkpoints import load_checkpoint
from tests.unit.training.toy import StopAt, same_state, tiny_run

LITE = {"training": {"mode": "lite", "steps": 12}, "augment": {"strong": ["deletion:0.2", "none"]}}
FULL = {"training": {"mode": "full"}, "augment": {"strong": ["deletion:0.2"]}}
OFFICIAL = {"training": {"mode": "full", "recipe": "official", "learning_rate": 1e-3}}
MODES = pytest.mark.parametrize("settings", [LITE, FULL], ids=["lite", "full"])


@pytest.fixture(scope="module")
def done(tiny_backbone):
    """Undisturbed runs, each made once."""
    made = {}

    def outcome(settings):
        if id(settings) not in made:
            made[id(settings)] = tiny_run(tiny_backbone, settings)
        return made[id(settings)]

    return outcome


def changed(settings, **training):
    return {**settings, "training": {**settings["training"], **training}}


def without_seconds(outcome):
    return {name: value for name, value in outcome.result.items() if name != "seconds"}


@MODES
def test_the_same_seed_gives_the_same_numbers(tiny_backbone, done, settings):
    again = tiny_run(tiny_backbone, settings)
    assert again.history == done(settings).history
    assert without_seconds(again) == without_seconds(done(settings))
    assert same_state(again.model.networks, done(settings).model.networks)


@MODES
def test_another_seed_gives_other_numbers(tiny_backbone, done, settings):
    other = tiny_run(tiny_backbone, changed(settings, seed=1))
    assert [r["loss"] for r in other.history] != [r["loss"] for r in done(settings).history]
    assert not same_state(other.model.networks.heads, done(settings).model.networks.heads)


@pytest.mark.parametrize("settings", [LITE, FULL, OFFICIAL], ids=["lite", "full", "official"])
@pytest.mark.parametrize("stop", [1, 4])
def test_a_run_stopped_and_resumed_ends_as_if_never_stopped(tiny_backbone, done, tmp_path, settings, stop):
    with pytest.raises(Interrupted):
        tiny_run(tiny_backbone, settings, tmp_path, StopAt(stop))
    assert not (tmp_path / "result.json").exists()
    assert load_checkpoint(tmp_path / "checkpoints" / "last.safetensors")[1]["progress"]["step"] == stop
    resumed = tiny_run(tiny_backbone, settings, tmp_path, resume=True)
    assert resumed.history == done(settings).history
    assert without_seconds(resumed) == without_seconds(done(settings))
    assert same_state(resumed.model.networks, done(settings).model.networks)


def test_a_warm_started_run_resumes_too(tiny_backbone, tmp_path):
    settings = changed(FULL, warm_start=True, steps=3)
    whole = tiny_run(tiny_backbone, settings)
    with pytest.raises(Interrupted):
        tiny_run(tiny_backbone, settings, tmp_path, StopAt(2))
    resumed = tiny_run(tiny_backbone, settings, tmp_path, resume=True)
    assert resumed.history == whole.history
    assert same_state(resumed.model.networks, whole.model.networks)


@MODES
def test_looking_more_often_does_not_change_the_weights(tiny_backbone, tmp_path, settings):
    last = []
    for every in (1, 10):
        tiny_run(tiny_backbone, changed(settings, evaluate_every=every), tmp_path / str(every))
        state, _ = load_checkpoint(tmp_path / str(every) / "checkpoints" / "last.safetensors")
        last.append({name: value for name, value in state.items() if not name.startswith(("best/", "counts/"))})
    often, seldom = last
    assert often.keys() == seldom.keys()
    assert all(torch.equal(often[name], seldom[name]) for name in often)


@MODES
def test_a_run_leaves_the_callers_random_streams_alone(tiny_backbone, settings):
    torch.manual_seed(123)
    before = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()  # type: ignore[index]
    tiny_run(tiny_backbone, {**changed(settings, steps=2), "output": {"baselines": True}})
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tolist() == before[1]  # type: ignore[index]
    assert random.getstate() == before[2]


@MODES
def test_the_callers_random_streams_do_not_change_a_run(tiny_backbone, done, settings):
    torch.manual_seed(77)
    np.random.seed(77)
    assert tiny_run(tiny_backbone, settings).history == done(settings).history
