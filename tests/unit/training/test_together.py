"""Runs side by side: each ends as if it were alone, whatever the others do."""

import os
import signal

import numpy as np
import pytest
import torch

from jointmatch.algorithms import ALGORITHMS
from jointmatch.errors import Interrupted, TrainingError
from jointmatch.training import Checkpointing, Loop, side_by_side
from jointmatch.training.checkpoints import load_checkpoint
from jointmatch.training.joint import Joint
from jointmatch.training.lite import LiteLearner
from tests.unit.training.toy import Recorder, StopAt, run_until, toy_features, toy_learner, toy_updater, weights

DEV = {"dev": np.arange(9) % 3}
SIZES = [(24, 6), (17, 9), (30, 3)]  # of the pool and the labelled texts of each run


def loop_of(run, path=None, algorithm="jointmatch", listener=None, every=1, dropout=0.3, pool=None, **training):
    """The toy run number ``run``: its own texts, start, order and dropout."""
    size, labeled = SIZES[run]
    features = toy_features(pool=size if pool is None else pool, labeled=labeled, seed=10 * run)
    features.labeled_strong.append(features.labeled + 1)  # for a method that learns from them
    learner = toy_learner(dropout, features=features, extra=ALGORITHMS[algorithm].extra_classes, seed=run)
    settings = {"tau": 0.4} if algorithm in ("jointmatch", "fixmatch", "aumst") else {}
    updater = toy_updater(algorithm, learner, listener, settings, seed=run, **training)
    checkpointing = Checkpointing(path / f"{run}.safetensors", every, "run") if path else None
    return Loop(updater, listener or Recorder(), DEV, checkpointing)


def loops(**training):
    return [loop_of(run, **training) for run in range(len(SIZES))]


def assert_same(found, wanted):
    """Loops that ended and what they left."""
    for (loop, trained), (alone, by_itself) in zip(found, wanted, strict=True):
        assert (trained.steps, trained.best_step, trained.termination) == (
            by_itself.steps,
            by_itself.best_step,
            by_itself.termination,
        )
        assert [r["step"] for r in trained.history] == [r["step"] for r in by_itself.history]
        for one, other in zip(trained.history, by_itself.history, strict=True):
            assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
            assert one["dev_accuracy"] == other["dev_accuracy"]
            assert one.get("selected") == other.get("selected")
        torch.testing.assert_close(
            weights(loop.updater.learner.networks), weights(alone.updater.learner.networks), atol=1e-5, rtol=1e-4
        )
        for name, value in alone.updater.algorithm.state_dict().items():
            torch.testing.assert_close(loop.updater.algorithm.state_dict()[name], value, atol=1e-5, rtol=1e-4)


def assert_as_alone(**training):
    together, apart = loops(**training), loops(**training)
    trained = side_by_side(together)
    assert_same(zip(together, trained, strict=True), [(loop, loop.run()) for loop in apart])
    return together


@pytest.fixture
def passes(monkeypatch):
    """Who was asked together, pass by pass."""
    seen: list[tuple[str, int]] = []
    for name in ("weak", "student", "backward"):
        inner = getattr(Joint, name)

        def spy(self, asks, inner=inner, name=name):
            seen.append((name, len(asks)))
            return inner(self, asks)

        monkeypatch.setattr(Joint, name, spy)
    for name in ("weak_logits", "student_logits"):
        inner = getattr(LiteLearner, name)

        def alone(*args, inner=inner, name=name):
            seen.append((name, 1))
            return inner(*args)

        monkeypatch.setattr(LiteLearner, name, alone)
    return seen


def test_all_runs_are_answered_by_one_pass(passes):
    side_by_side(loops())
    assert passes == [("weak", 3), ("student", 3), ("backward", 3)] * 6


@pytest.mark.parametrize(
    "training",
    [
        {},
        {"update": "alternating"},
        {"accumulate": 2},
        {"accumulate": 50},
        {"clip_norm": 0.1},
        {"label_dropout": True},
        {"average_decay": 0.9},
        {"average_decay": 0.9, "average_labels": True, "label_dropout": True},
        {"schedule": "linear", "warmup_steps": 2, "weight_decay": 0.1},
        {"batch_size": 0},
    ],
    ids=str,
)
def test_each_run_ends_as_if_it_were_alone(training):
    assert_as_alone(**training)


@pytest.mark.parametrize("algorithm", ["aumst", "sat", "mixtext", "decrisismb", "supervised", "coteaching"])
def test_methods_that_start_anew_choose_rows_mix_or_learn_themselves_do_too(algorithm):
    assert_as_alone(algorithm=algorithm, steps=10)


def test_a_run_with_its_loss_at_hand_waits_for_one_that_still_asks_for_labelled_views():
    """Four parts: the third run has three labelled texts, so in the last one it asks for no views of any."""
    assert_as_alone(algorithm="sat", accumulate=4)


def test_a_run_that_mixes_nothing_at_a_step_stays_itself_beside_those_that_mix():
    together, apart = loops(algorithm="mixtext"), loops(algorithm="mixtext")
    for own in (together, apart):
        own[1].updater.algorithm.mixing = lambda *_: None
    trained = side_by_side(together)
    assert_same(zip(together, trained, strict=True), [(loop, loop.run()) for loop in apart])


def test_one_run_side_by_side_with_nobody_is_alone(passes):
    loop, alone = loop_of(0), loop_of(0)
    trained = side_by_side([loop])
    assert not any(name in ("weak", "student") for name, _ in passes)
    assert trained == [alone.run()]


def scripted(run, scores):
    """A run whose dev accuracy is read from a list."""
    loop = loop_of(run, steps=len(scores), evaluate_every=1, patience=1)
    left = list(scores)

    def part_logits(module, part):
        right = torch.arange(9) < round(9 * (left.pop(0) if left else 0))
        other = (torch.arange(9) + 1) % 3
        wanted = torch.where(right, torch.arange(9) % 3, other)
        return torch.nn.functional.one_hot(wanted, 3).float().expand(2, -1, -1)

    loop.updater.learner.part_logits = part_logits
    return loop


SCORES = [[1 / 9, 2 / 9, 1 / 9, 0, 0, 0], [1 / 9, 1 / 9, 0, 0, 0, 0], [1 / 9, 2 / 9, 3 / 9, 4 / 9, 5 / 9, 6 / 9]]


def test_a_run_that_stops_early_leaves_the_others_and_is_left_alone(passes):
    """Patience 1: the first run ends after step 3, the second after step 2, the third goes on to the last."""
    together, apart = ([scripted(run, scores) for run, scores in enumerate(SCORES)] for _ in range(2))
    trained = side_by_side(together)
    assert [own.steps for own in trained] == [3, 2, 6]
    assert [count for name, count in passes if name == "student"] == [3, 3, 2]
    assert sum(name == "student_logits" for name, _ in passes) == 3
    assert_same(zip(together, trained, strict=True), [(loop, loop.run()) for loop in apart])


def test_what_ended_no_longer_shares_its_memory():
    together = loops()
    side_by_side(together)
    for loop in together:
        for parameter in loop.updater.learner.networks.parameters():
            assert parameter.untyped_storage().nbytes() == parameter.nbytes


def with_memory_for(monkeypatch, texts):
    inner = Joint.student

    def student(self, asks):
        if max(len(ask.labeled) + len(ask.pool) for ask in asks) > texts:
            raise torch.OutOfMemoryError("simulated")
        return inner(self, asks)

    monkeypatch.setattr(Joint, "student", student)


def test_out_of_memory_is_told_to_all_and_they_go_on_in_smaller_parts(monkeypatch):
    """Twelve texts a step in most runs, six at a time: two parts."""
    apart = [loop_of(run, dropout=0.0) for run in range(3)]
    wanted = [loop.run() for loop in apart]
    with_memory_for(monkeypatch, 6)
    together = [loop_of(run, dropout=0.0) for run in range(3)]
    trained = side_by_side(together)
    assert [loop.updater.accumulate for loop in together] == [2, 2, 2]
    assert_same(zip(together, trained, strict=True), zip(apart, wanted, strict=True))


def test_out_of_memory_in_a_backward_pass_leaves_no_gradient_behind(monkeypatch):
    apart = [loop_of(run, dropout=0.0) for run in range(3)]
    wanted = [loop.run() for loop in apart]
    inner = Joint.backward
    failed: list[int] = []

    def backward(self, asks):
        inner(self, asks)
        if not failed:
            failed.append(1)
            for joined in self._joined.values():
                for parameter in joined.module.parameters():
                    parameter.grad = torch.ones_like(parameter)
            raise torch.OutOfMemoryError("simulated")

    monkeypatch.setattr(Joint, "backward", backward)
    together = [loop_of(run, dropout=0.0) for run in range(3)]
    trained = side_by_side(together)
    assert_same(zip(together, trained, strict=True), zip(apart, wanted, strict=True))


def test_one_run_that_lacks_memory_for_its_loss_shrinks_alone_and_catches_up(passes):
    apart = [loop_of(run, dropout=0.0) for run in range(3)]
    wanted = [loop.run() for loop in apart]
    together = [loop_of(run, dropout=0.0) for run in range(3)]
    rule = together[1].updater.algorithm
    inner = rule.unsupervised_loss
    failed: list[int] = []

    def loss(*args):
        if not failed:
            failed.append(1)
            raise torch.OutOfMemoryError("simulated")
        return inner(*args)

    rule.unsupervised_loss = loss
    trained = side_by_side(together)
    assert [loop.updater.accumulate for loop in together] == [1, 2, 1]
    assert_same(zip(together, trained, strict=True), zip(apart, wanted, strict=True))
    assert passes[-3:] != passes[:3]


def test_memory_that_never_suffices_stops_and_says_what_to_try(monkeypatch):
    with_memory_for(monkeypatch, 0)
    with pytest.raises(TrainingError, match="max_length"):
        side_by_side(loops())


def test_runs_with_fewer_turns_wait_for_the_others(passes):
    """Alternating over pools of 24, 1 and 0 texts: three, two and one update a step."""
    pools = (24, 1, 0)
    settings = {"update": "alternating", "mu": 2}
    together, apart = ([loop_of(run, pool=pools[run], **settings) for run in range(3)] for _ in range(2))
    trained = side_by_side(together)
    assert passes.count(("student", 3)) == 6
    assert_same(zip(together, trained, strict=True), [(loop, loop.run()) for loop in apart])


def test_a_stopped_training_leaves_every_run_at_the_same_step_and_goes_on_to_the_same_end(tmp_path):
    """Eighteen steps in all runs; the key is pressed during the seventh, the first run's third."""
    wanted = [(loop, loop.run()) for loop in loops()]
    listener = StopAt(7)
    listener.stage("training", 18)
    listener.stage = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(Interrupted, match="after step 3 of 6"):
        side_by_side(loops(path=tmp_path, listener=listener, every=0))
    steps = [load_checkpoint(tmp_path / f"{run}.safetensors")[1]["progress"]["step"] for run in range(3)]
    assert steps == [3, 3, 3]
    resumed = loops(path=tmp_path, every=0)
    assert all(loop.load() for loop in resumed)
    assert_same(zip(resumed, side_by_side(resumed), strict=True), wanted)


def test_runs_resumed_at_different_steps_wait_for_the_one_behind(tmp_path, passes):
    wanted = [(loop, loop.run()) for loop in loops()]
    for run, stop in enumerate((4, 2, 4)):
        run_until(loop_of(run, tmp_path), stop)
    passes.clear()
    resumed = loops(path=tmp_path)
    assert all(loop.load() for loop in resumed)
    trained = side_by_side(resumed)
    assert (
        passes
        == [("weak_logits", 1), ("student_logits", 1), ("backward", 1)] * 2
        + [
            ("weak", 3),
            ("student", 3),
            ("backward", 3),
        ]
        * 2
    )
    assert_same(zip(resumed, trained, strict=True), wanted)


def test_a_checkpoint_written_side_by_side_is_one_of_the_run_alone(tmp_path):
    alone = loop_of(1)
    wanted = alone.run()
    with pytest.raises(Interrupted):
        side_by_side([loop_of(run, tmp_path, listener=StopAt(3) if run == 1 else None) for run in range(3)])
    resumed = loop_of(1, tmp_path)
    assert resumed.load()
    assert_same([(resumed, resumed.run())], [(alone, wanted)])


def poisoned(run, step, **training):
    loop = loop_of(run, **training)
    inner = loop.updater.algorithm.supervised_loss

    def loss(logits, y, at):
        return inner(logits, y, at) * (float("nan") if at.number >= step else 1.0)

    loop.updater.algorithm.supervised_loss = loss
    return loop


def test_a_run_that_diverges_stops_all_and_the_others_keep_their_state(tmp_path):
    settings = {"path": tmp_path, "every": 0, "evaluate_every": 1}
    together = [loop_of(0, **settings), poisoned(1, 2, **settings), loop_of(2, **settings)]
    with pytest.raises(TrainingError, match="no longer a number"):
        side_by_side(together)
    assert not (tmp_path / "1.safetensors").exists()
    for run in (0, 2):
        state, facts = load_checkpoint(tmp_path / f"{run}.safetensors")
        assert all(value.isfinite().all() for value in state.values())
        assert facts["progress"]["step"] in (3, 4)


def test_a_run_that_ended_keeps_its_state_when_another_diverges(tmp_path):
    settings = {"path": tmp_path, "every": 0, "evaluate_every": 1, "patience": 1, "steps": 30}
    together = [loop_of(0, **settings), poisoned(1, 20, **settings | {"patience": 0})]
    with pytest.raises(TrainingError):
        side_by_side(together)
    ended = load_checkpoint(tmp_path / "0.safetensors")[1]["progress"]
    assert ended["since_best"] == 1
    assert ended["step"] < 20


def test_a_run_that_ended_is_written_down_while_the_others_go_on(tmp_path):
    """Run 0 stops early; run 1 is killed at step 20, which nobody is told of."""

    class Killed(Recorder):
        def advance(self, amount=1, **metrics):
            super().advance(amount)
            if self.steps == 20:
                raise MemoryError

    settings = {"path": tmp_path, "every": 0, "evaluate_every": 1, "steps": 30}
    together = [loop_of(0, patience=1, **settings), loop_of(1, listener=Killed(), **settings)]
    with pytest.raises(MemoryError):
        side_by_side(together)
    ended = load_checkpoint(tmp_path / "0.safetensors")[1]["progress"]
    assert ended["since_best"] == 1
    assert ended["step"] < 20
    assert not (tmp_path / "1.safetensors").exists()


def test_a_signal_while_the_last_state_is_saved_stops_with_all_of_them_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(Loop, "save", pressed_while(Loop.save))
    together = loops(path=tmp_path, every=0)
    with pytest.raises(Interrupted, match="after step 6 of 6; the state is saved"):
        side_by_side(together)
    steps = [load_checkpoint(tmp_path / f"{run}.safetensors")[1]["progress"]["step"] for run in range(3)]
    assert steps == [6, 6, 6]


def pressed_while(save):
    """The same with Ctrl-C during the third."""
    done: list[int] = []

    def pressed(self):
        done.append(1)
        if len(done) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        save(self)

    return pressed


def test_without_checkpoints_a_run_that_diverges_says_so_at_once():
    with pytest.raises(TrainingError, match="no longer a number"):
        side_by_side([loop_of(0), poisoned(1, 2)])


def test_a_run_that_diverges_does_not_spoil_the_numbers_of_the_others():
    """NaN weights in one run from step 2 on; nobody looks at them before step 10."""
    together, apart = ([loop_of(0, steps=5, evaluate_every=5), loop_of(2, steps=5, evaluate_every=5)] for _ in "ab")
    spoilt = poisoned(1, 2, steps=5, evaluate_every=5)
    with pytest.raises(TrainingError):
        side_by_side([together[0], spoilt, together[1]])
    for loop, alone in zip(together, apart, strict=True):
        for number in range(loop.progress.step):
            alone.updater.step(number)
        torch.testing.assert_close(
            weights(loop.updater.learner.networks), weights(alone.updater.learner.networks), atol=1e-5, rtol=1e-4
        )
    assert together[0].progress.step == 5
