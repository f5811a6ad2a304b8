"""Methods in rounds: new networks, a new optimiser, a new schedule, and the same end when interrupted."""

from types import MethodType

import numpy as np
import pytest
import torch

from jointmatch.errors import Interrupted
from jointmatch.training import Checkpointing, Loop
from jointmatch.training.checkpoints import load_checkpoint
from tests.unit.training.toy import (
    CLASSES,
    Recorder,
    StopAt,
    run_until,
    same_state,
    tiny_run,
    toy_features,
    toy_learner,
    toy_updater,
    weights,
)

SETTINGS = {"tau": 0.4, "rounds": 1, "teacher_share": 0.3, "probe_share": 0.45}
STARTS = [0, 3, 6]  # of ten steps: 3 for the teacher, 3 for the probe, 4 for the student


def updater(algorithm="aumst", dropout=0.0, **training):
    learner = toy_learner(dropout, extra=1)
    return toy_updater(algorithm, learner, settings=SETTINGS, **{"steps": 10, "average_decay": 0.9} | training)


def steps_taken(made):
    return {int(state["step"]) for state in made.optimizer.state.values()}


def test_networks_optimiser_and_average_start_anew_with_every_phase():
    made = updater()
    initial = weights(made.learner.networks)
    taken = []
    for number in range(10):
        if number in STARTS[1:]:
            assert not torch.equal(weights(made.learner.networks), initial)
        made.step(number)
        taken.append(steps_taken(made))
    assert taken == [{1}, {2}, {3}, {1}, {2}, {3}, {1}, {2}, {3}, {4}]


def test_an_average_that_keeps_its_start_lets_go_of_it_within_a_phase():
    """The first phase has 30 % of 40 steps: 1 - 8 / 12 = 1/3 instead of the 0.8 of all 40, or 0.9."""
    averaged = updater(steps=40, average_warmup=False).averaged
    assert averaged is not None
    assert averaged.decay == pytest.approx(1 / 3)


def test_a_phase_starts_from_the_very_first_weights():
    """At a rate of next to nothing what is left after a phase's first step is the start."""
    made = updater(weight_decay=0.0)
    initial = weights(made.learner.networks)
    for number in range(3):
        made.step(number)
    for group in made.optimizer.param_groups:
        group["base_lr"] = 1e-12
    made.step(3)
    for module in (made.learner.networks, made.evaluated):
        torch.testing.assert_close(weights(module), initial)


def test_the_average_forgets_a_phases_start_as_soon_as_the_firsts():
    """The decay after the first step is 1/10 in every phase: the average is nine tenths of the way to the weights."""
    made = updater()
    initial = weights(made.learner.networks)
    for number in range(4):
        made.step(number)
    moved = weights(made.evaluated) - initial
    torch.testing.assert_close(moved, 0.9 * (weights(made.learner.networks) - initial))


def test_the_schedule_is_each_phases_own():
    """Linear from 1 to 0.1 within a phase: after the first step 1, after the second of three 1 - 0.9 / 3 = 0.7."""
    made = updater(schedule="linear", learning_rate=1.0)
    rates = []
    for number in range(10):
        made.step(number)
        rates.append(made.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([1.0, 0.7, 0.4, 1.0, 0.7, 0.4, 1.0, 0.775, 0.55, 0.325])


def test_the_method_is_told_what_the_scored_networks_say_of_the_pool():
    made = updater()
    told = []

    def begin(self, pool_logits, step):
        wanted = made.learner.part_logits(made.evaluated.eval(), "pool")
        told.append((step.number, torch.equal(pool_logits, wanted), tuple(pool_logits.shape)))

    made.algorithm.begin_phase = MethodType(begin, made.algorithm)
    for number in range(10):
        made.step(number)
    assert told == [(3, True, (2, 24, CLASSES)), (6, True, (2, 24, CLASSES))]


def test_without_a_pool_there_is_one_phase():
    made = toy_updater("aumst", toy_learner(features=toy_features(pool=0), extra=1), settings=SETTINGS, steps=10)
    for number in range(10):
        made.step(number)
    assert steps_taken(made) == {10}


def test_only_a_method_in_rounds_keeps_its_first_weights(tmp_path):
    kept = []
    for name in ("aumst", "marginmatch"):
        path = tmp_path / name
        made = toy_updater(name, steps=2)
        Loop(made, Recorder(), checkpointing=Checkpointing(path, 1)).run()
        kept.append(any(key.startswith("initial/") for key in load_checkpoint(path)[0]))
    assert kept == [True, False]


def loop_at(path, **training):
    made = updater(dropout=0.4, patience=0, **training)
    return Loop(made, Recorder(), {"dev": np.arange(9) % 3}, Checkpointing(path, 1, "run"))


@pytest.mark.parametrize("stop", [2, 3, 4, 6, 7])
@pytest.mark.parametrize("update", ["joint", "alternating"])
def test_a_loop_continued_in_any_phase_ends_as_if_never_stopped(tmp_path, stop, update):
    whole = loop_at(tmp_path / "whole", update=update)
    wanted = whole.run()
    broken = loop_at(tmp_path / "part", update=update)
    run_until(broken, stop)
    resumed = loop_at(tmp_path / "part", update=update)
    for parameter in resumed.updater.learner.networks.parameters():  # a warm start is not made again when resuming
        torch.nn.init.zeros_(parameter)
    assert resumed.load()
    assert resumed.run() == wanted
    assert same_state(resumed.updater.learner.networks, whole.updater.learner.networks)
    assert same_state(resumed.updater.algorithm, whole.updater.algorithm)


def test_looking_more_often_changes_nothing(tmp_path):
    often, seldom = loop_at(tmp_path / "a", evaluate_every=1), loop_at(tmp_path / "b", evaluate_every=10)
    for loop in (often, seldom):
        loop.truths = {}
        loop.run()
    assert same_state(often.updater.learner.networks, seldom.updater.learner.networks)


HOOKED = {"aumst": {"tau": 0.4, "rounds": 1}, "marginmatch": {"tau": 0.4, "virtual_share": 0.2}, "multimatch": {}}


@pytest.mark.parametrize("name", sorted(HOOKED))
@pytest.mark.parametrize("mode", ["lite", "full"])
def test_whole_runs_of_them_resume_too(tiny_backbone, tmp_path, name, mode):
    settings = {"algorithm": {"name": name, **HOOKED[name]}, "training": {"mode": mode, "warm_start": mode == "full"}}
    whole = tiny_run(tiny_backbone, settings)
    with pytest.raises(Interrupted):
        tiny_run(tiny_backbone, settings, tmp_path, StopAt(3))
    resumed = tiny_run(tiny_backbone, settings, tmp_path, resume=True)
    assert resumed.history == whole.history
    assert same_state(resumed.model.networks, whole.model.networks)
