"""What stops a run in order: exit code 1 (Ctrl-C: 130), what was done is kept, and the message says how to go on."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open

from jointmatch.assembly import Assembly
from jointmatch.job import Job
from jointmatch.training.adamw import QuickAdamW
from jointmatch.training.updates import Updater
from tests.end_to_end.conftest import FAST


@pytest.fixture
def train(command, toy, tiny_backbone, tmp_path):
    def call(*words: object):
        fixed = ("--output", tmp_path / "run", "--backbone", tiny_backbone, *FAST, "--set", "output.baselines=false")
        return command("train", toy / "train.csv", *fixed, *words)

    return call


def assert_stopped(ran, *expected: str, code: int = 1) -> None:
    assert (ran.code, ran.out) == (code, "")
    assert "Traceback" not in ran.err
    for part in expected:
        assert part in ran.err.splitlines()[-1]


def poison(monkeypatch, first_step: int) -> None:
    """From ``first_step`` (counted from 0) on, the weights are not numbers."""
    sound = Updater.conversation

    def poisoned(self, number):
        if number >= first_step:
            for parameter in self.learner.networks.parameters():
                parameter.data.fill_(float("nan"))
        return sound(self, number)

    monkeypatch.setattr(Updater, "conversation", poisoned)


def checkpoint_of(run: Path) -> tuple[int, bool]:
    """The step of the stored checkpoint, and whether all of its weights are numbers."""
    with safe_open(run / "checkpoints/last.safetensors", framework="np") as file:
        step = json.loads(file.metadata()["facts"])["progress"]["step"]
        names = [name for name in file.keys() if name.startswith("networks/")]  # noqa: SIM118 - no mapping
        return step, all(np.isfinite(file.get_tensor(name)).all() for name in names)


def test_a_diverging_run_says_what_to_try(train, tmp_path):
    ran = train("--set", "training.learning_rate=1e30")
    assert_stopped(ran, "no longer a number", "training.learning_rate", "training.clip_norm")
    assert not (tmp_path / "run/model").exists()
    assert not (tmp_path / "run/result.json").exists()


@pytest.mark.parametrize("every", [4, 5])
def test_the_last_good_checkpoint_outlives_a_loss_that_is_no_number(train, tmp_path, monkeypatch, every):
    """Steps 0 to 5 are sound, so checkpoints at 4 or 5 are; one written at 8 would hold NaN."""
    with monkeypatch.context() as patch:
        poison(patch, first_step=6)
        ran = train("--set", f"output.checkpoint_every={every}")
    assert_stopped(ran, "no longer a number", "last.safetensors")
    assert checkpoint_of(tmp_path / "run") == (every, True)
    resumed = train("--set", f"output.checkpoint_every={every}", "--resume")
    assert resumed.code == 0, resumed.err


def test_a_checkpoint_is_named_only_where_there_is_one(train, tmp_path, monkeypatch):
    poison(monkeypatch, first_step=0)
    ran = train()
    assert_stopped(ran, "no longer a number")
    assert not (tmp_path / "run/checkpoints").exists()
    assert "last.safetensors" not in ran.err


@pytest.mark.parametrize("name", ["history.jsonl", "last.safetensors", "result.json", "model"])
def test_a_full_disk_stops_the_run_in_order_and_it_can_be_resumed(train, tmp_path, monkeypatch, name):
    replace = os.replace

    def full(source, target):
        if Path(target).name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        return replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        assert_stopped(train(), "the disk is full", name, "--resume")
    assert not (tmp_path / "run" / name).exists()
    assert not [p for p in (tmp_path / "run").rglob("*") if p.suffix in (".tmp", ".old")]
    assert train("--resume").code == 0
    assert (tmp_path / "run/result.json").is_file()


@pytest.mark.parametrize(
    "name",
    [
        "last.safetensors",
        "heads.safetensors",
        "encoder/model.safetensors",
    ],
)
def test_a_disk_that_fills_while_weights_are_written_is_a_full_disk(train, tmp_path, monkeypatch, name):
    """safetensors reports it by an error of its own, which is no OSError."""
    write = safetensors.torch.serialize_file

    def full(tensors, path, *args, **kwargs):
        if name.removesuffix(".safetensors") in str(path):
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
        return write(tensors, path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(safetensors.torch, "serialize_file", full)
        assert_stopped(train(), "the disk is full", "--resume")
    assert not (tmp_path / "run/model").exists()
    assert not [p for p in (tmp_path / "run").rglob("*") if p.suffix in (".tmp", ".old")]
    assert train("--resume").code == 0


@pytest.mark.parametrize(("owner", "stage"), [(Assembly, "features"), (Job, "_compared")])
def test_ctrl_c_outside_the_training_loop_also_says_how_to_go_on(train, monkeypatch, owner, stage):
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, stage, interrupted)
    assert_stopped(train("--set", "output.baselines=true"), "--resume", code=130)


def test_no_memory_for_the_update_itself_is_said_in_one_message(train, monkeypatch):
    def full(*args: object, **kwargs: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(QuickAdamW, "step", full)
    ran = train()
    assert ran.code == 1
    assert "--mode lite" in ran.err
    assert "Traceback" not in ran.err
