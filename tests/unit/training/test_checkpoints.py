"""A checkpoint holds everything, is read back exactly, and belongs to one run."""

import numpy as np
import pytest
import torch

from jointmatch.errors import InputError
from jointmatch.training import Checkpointing, Loop
from jointmatch.training.checkpoints import (
    load_checkpoint,
    load_module,
    load_optimizer,
    module_state,
    optimizer_state,
    save_checkpoint,
)
from tests.unit.training.toy import Recorder, run_until, same_state, toy_learner, toy_updater


def loop_at(path, identity="run", every=3, **training):
    settings = {"average_decay": 0.9, "average_labels": True, "patience": 2, **training}
    updater = toy_updater(learner=toy_learner(dropout=0.4), steps=9, settings={"tau": 0.5}, **settings)
    return Loop(updater, Recorder(), {"dev": np.arange(9) % 3}, Checkpointing(path, every, identity))


def test_tensors_and_facts_come_back_as_they_were(tmp_path):
    state = {"a/x": torch.randn(3, 2), "b": torch.tensor(5), "c": torch.randn(4, 4).T}
    save_checkpoint(tmp_path / "c.safetensors", state, {"best": -float("inf"), "name": "ä"})
    found, facts = load_checkpoint(tmp_path / "c.safetensors")
    assert found.keys() == state.keys()
    assert all(torch.equal(found[name], state[name]) for name in state)
    assert facts == {"best": -float("inf"), "name": "ä"}


def test_modules_under_different_prefixes_do_not_mix():
    one, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    state = {**module_state("one", one), **module_state("one-more", other)}
    target = torch.nn.Linear(2, 2)
    load_module("one-more", target, state)
    assert same_state(target, other)
    assert not same_state(target, one)


def test_a_modules_state_is_a_copy():
    module = torch.nn.Linear(1, 1)
    state = module_state("m", module)
    torch.nn.init.constant_(module.weight, 9.0)
    assert state["m/weight"].item() != 9.0


def test_a_restored_optimiser_takes_the_same_next_step():
    first, second = toy_updater(), toy_updater()
    for number in range(3):
        first.step(number)
    load_module("n", second.learner.networks, module_state("n", first.learner.networks))
    second.algorithm.load_state_dict(first.algorithm.state_dict())
    load_optimizer(second.optimizer, optimizer_state(first.optimizer))
    for updater in (first, second):
        updater.step(3)
    assert same_state(first.learner.networks, second.learner.networks)


@pytest.mark.parametrize("stop", [3, 6])
@pytest.mark.parametrize("update", ["joint", "alternating"])
def test_a_loop_continued_from_a_checkpoint_ends_as_if_never_stopped(tmp_path, stop, update):
    whole = loop_at(tmp_path / "whole", update=update)
    wanted = whole.run()
    broken = loop_at(tmp_path / "part", update=update)
    run_until(broken, stop)
    resumed = loop_at(tmp_path / "part", update=update)
    assert resumed.load()
    assert resumed.progress.step == stop
    assert resumed.run() == wanted
    assert same_state(resumed.updater.learner.networks, whole.updater.learner.networks)
    assert same_state(resumed.updater.algorithm, whole.updater.algorithm)


def test_the_number_of_micro_batches_is_remembered(tmp_path):
    first = loop_at(tmp_path / "c")
    first.updater.accumulate = 4
    first.save()
    second = loop_at(tmp_path / "c")
    second.load()
    assert second.updater.accumulate == 4


def test_a_run_that_stopped_early_is_over_when_resumed(tmp_path):
    first = loop_at(tmp_path / "c", every=1, evaluate_every=1, patience=1)
    wanted = first.run()
    assert wanted.termination == "early_stopping"
    second = loop_at(tmp_path / "c", every=1, evaluate_every=1, patience=1)
    second.load()
    assert second.run() == wanted


def test_without_a_checkpoint_there_is_nothing_to_load(tmp_path):
    assert not loop_at(tmp_path / "c").load()


def test_a_checkpoint_of_another_run_is_the_users_mistake(tmp_path):
    loop_at(tmp_path / "c", "one").save()
    with pytest.raises(InputError, match=r"other data or settings.*--overwrite"):
        loop_at(tmp_path / "c", "other").load()


@pytest.mark.parametrize("content", [b"", b"no checkpoint at all", "cut"])
def test_a_damaged_checkpoint_gives_one_clear_error(tmp_path, content):
    path = tmp_path / "c"
    loop_at(path).save()
    path.write_bytes(path.read_bytes()[:1000] if content == "cut" else content)
    with pytest.raises(InputError, match=r"cannot be read.*--overwrite"):
        loop_at(path).load()


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    loop_at(tmp_path / "c", "old").save()

    def full_disk(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jointmatch.training.checkpoints.save_tensors", full_disk)
    with pytest.raises(OSError, match="No space"):
        loop_at(tmp_path / "c", "new").save()
    assert load_checkpoint(tmp_path / "c")[1]["identity"] == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["c"]
