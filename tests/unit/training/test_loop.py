"""Evaluating, keeping the best, stopping early, and stopping in order."""

import os
import signal

import numpy as np
import pytest
import torch

from jointmatch.errors import Interrupted, JointMatchError, TrainingError
from jointmatch.training import Checkpointing, Loop
from jointmatch.training.checkpoints import load_checkpoint
from tests.unit.training.toy import Recorder, StopAt, toy_learner, toy_updater, weights

DEV = np.zeros(10, dtype=int)


def scripted(scores, average_decay=0.0, **training):
    """A loop that evaluates after every step, its dev accuracy read from a list; and the weights at each evaluation."""
    updater = toy_updater(steps=len(scores), evaluate_every=1, average_decay=average_decay, **training)
    left = list(scores)

    def part_logits(module, part, rows=None):
        right = torch.arange(10) < round(10 * (left.pop(0) if left else 0))
        right = right if rows is None else right[rows]
        return torch.stack([right.float(), 1 - right.float()], -1).expand(2, -1, -1)

    updater.learner.part_logits = part_logits  # type: ignore[method-assign]
    seen = []
    loop = Loop(
        updater, Recorder(), {"dev": DEV}, on_evaluation=lambda history: seen.append(weights(updater.evaluated))
    )
    return loop, seen


def looped(updater, folder=None, every=1, listener=None):
    checkpointing = Checkpointing(folder / "last.safetensors", every, "the same run") if folder else None
    return Loop(updater, listener or Recorder(), {"dev": np.arange(9) % 3}, checkpointing)


@pytest.mark.parametrize(
    ("scores", "patience", "steps", "termination"),
    [
        ([0.5, 0.6, 0.4, 0.4, 0.9], 2, 4, "early_stopping"),
        ([0.5, 0.6, 0.4, 0.7, 0.6], 2, 5, "max_steps"),
        ([0.5, 0.5, 0.5, 0.9, 0.9], 2, 3, "early_stopping"),
        ([0.5, 0.4, 0.4, 0.4, 0.4], 0, 5, "max_steps"),
    ],
)
def test_training_stops_after_so_many_evaluations_without_a_better_score(scores, patience, steps, termination):
    loop, _ = scripted(scores, patience=patience)
    trained = loop.run()
    assert (trained.steps, trained.termination) == (steps, termination)


@pytest.mark.parametrize(
    ("scores", "best"), [([0.5, 0.9, 0.4], 2), ([0.5, 0.9, 0.9], 3), ([0.9, 0.5, 0.4], 1), ([0.0, 0.0, 0.0], 3)]
)
@pytest.mark.parametrize("average_decay", [0.0, 0.5])
def test_the_weights_of_the_best_evaluation_are_kept_and_of_equals_the_later(scores, best, average_decay):
    loop, seen = scripted(scores, average_decay)
    trained = loop.run()
    assert trained.best_step == best
    assert trained.selection == "those with the best accuracy on the dev part"
    assert torch.equal(weights(loop.updater.learner.networks), seen[best - 1])
    assert not torch.equal(seen[0], seen[1])


@pytest.mark.parametrize(("scores", "best"), [([0.9, 0.5, 0.8], 0), ([0.5, 0.4, 0.5], 2), ([0.5, 0.9, 0.4], 1)])
@pytest.mark.parametrize("average_decay", [0.0, 0.5])
def test_networks_that_are_something_as_they_begin_are_scored_and_may_be_kept(scores, best, average_decay):
    """The first score is of the start, before any step; of equals the later is kept here too."""
    loop, seen = scripted(scores, average_decay)
    loop.look_first = True
    start = weights(loop.updater.learner.networks)
    trained = loop.run()
    assert [record["step"] for record in trained.history] == [0, 1, 2, 3]
    assert torch.equal(seen[0], start)
    assert "loss" not in trained.history[0]
    assert trained.best_step == best
    assert torch.equal(weights(loop.updater.learner.networks), seen[best])


def test_patience_counts_from_the_start_where_that_was_looked_at():
    loop, _ = scripted([0.9, 0.5, 0.5, 0.9], patience=2)
    loop.look_first = True
    assert (loop.run().steps, loop.progress.best_step) == (2, 0)


def test_a_resumed_run_does_not_look_at_its_start_again(tmp_path):
    first = looped(toy_updater(steps=6), tmp_path)
    first.look_first = True
    whole = first.run().history
    again = looped(toy_updater(steps=6), tmp_path)
    again.look_first = True
    assert again.load()
    assert again.run().history == whole
    assert [record["step"] for record in whole].count(0) == 1


def test_without_dev_there_is_nothing_to_look_at_first():
    assert Loop(toy_updater(), Recorder(), look_first=True).run().history[0]["step"] > 0


@pytest.mark.parametrize(("average_decay", "named"), [(0.0, "the last step's, as"), (0.9, "averaged over training")])
def test_without_dev_the_last_steps_weights_are_kept_and_it_says_so(average_decay, named):
    updater = toy_updater(average_decay=average_decay)
    trained = Loop(updater, Recorder()).run()
    assert trained.best_step == trained.steps == 6
    assert named in trained.selection
    assert "no dev part" in trained.selection
    assert torch.equal(weights(updater.learner.networks), weights(updater.evaluated))
    assert not updater.learner.networks.training


def test_without_dev_patience_never_stops():
    updater = toy_updater(patience=1, evaluate_every=1)
    assert Loop(updater, Recorder()).run().termination == "max_steps"


def test_the_history_has_a_record_per_interval_and_one_of_the_last_step():
    """Steps 6, every 4: records at 4 and 6."""
    updater = toy_updater(evaluate_every=4, settings={"tau": 0.4})
    history = looped(updater).run().history
    assert [record["step"] for record in history] == [4, 6]
    wanted = {"loss", "selected", "agreement", "thresholds", "dev_accuracy", "dev_macro_f1", "pseudo_label_accuracy"}
    assert wanted <= history[0].keys()
    assert np.shape(history[0]["thresholds"]) == (2, 3)


def test_training_learns_the_toy_problem():
    updater = toy_updater(steps=40, settings={"tau": 0.5})
    history = looped(updater).run().history
    assert history[-1]["dev_accuracy"] > 0.85
    assert history[-1]["loss"] < history[0]["loss"]


def poisoned(step, **training):
    """An updater whose supervised loss is no number from one step on."""
    updater = toy_updater(**training)
    inner = updater.algorithm.supervised_loss

    def loss(logits, y, at):
        return inner(logits, y, at) * (float("nan") if at.number >= step else 1.0)

    updater.algorithm.supervised_loss = loss  # type: ignore[method-assign]
    return updater


def test_a_loss_that_is_no_number_stops_and_says_what_to_try():
    with pytest.raises(TrainingError, match=r"no longer a number.*learning_rate"):
        looped(poisoned(2, evaluate_every=1)).run()


def test_between_evaluations_it_is_seen_an_interval_later_so_that_no_step_waits_for_the_device():
    """Asked at 10 and 20, read at 20 and 30: of step 12 it is known at 30, long before the evaluation at 100."""
    loop = looped(poisoned(12, steps=100, evaluate_every=100))
    with pytest.raises(TrainingError, match="no longer a number at step 20"):
        loop.run()
    assert loop.progress.step == 30


def test_an_evaluation_looks_at_once():
    loop = looped(poisoned(12, steps=100, evaluate_every=15))
    with pytest.raises(TrainingError, match="no longer a number at step 15"):
        loop.run()


def assert_whole(path, step):
    state, facts = load_checkpoint(path)
    assert all(value.isfinite().all() for value in state.values())
    assert facts["progress"]["step"] == step


def test_the_last_good_checkpoint_is_kept_when_the_loss_is_looked_at_in_time(tmp_path):
    with pytest.raises(TrainingError, match=r"kept in .*last\.safetensors"):
        looped(poisoned(3, evaluate_every=1), tmp_path).run()
    assert_whole(tmp_path / "last.safetensors", step=3)


def test_the_last_good_checkpoint_is_kept_when_the_loss_is_looked_at_late(tmp_path):
    with pytest.raises(TrainingError):
        looped(poisoned(3, evaluate_every=6), tmp_path).run()
    assert_whole(tmp_path / "last.safetensors", step=3)


def test_ctrl_c_does_not_replace_a_good_checkpoint_by_one_of_no_numbers(tmp_path):
    with pytest.raises(JointMatchError):
        looped(poisoned(2, evaluate_every=6), tmp_path, every=2, listener=StopAt(3)).run()
    assert_whole(tmp_path / "last.safetensors", step=2)


def test_no_checkpoint_is_promised_that_does_not_exist(tmp_path):
    with pytest.raises(TrainingError) as caught:
        looped(poisoned(0, evaluate_every=1), tmp_path, every=200).run()
    assert not (tmp_path / "last.safetensors").exists()
    assert "kept in" not in str(caught.value)


def test_ctrl_c_finishes_the_step_and_leaves_a_checkpoint(tmp_path):
    loop = looped(toy_updater(), tmp_path, every=0, listener=StopAt(3))
    with pytest.raises(Interrupted, match="after step 3 of 6"):
        loop.run()
    assert_whole(tmp_path / "last.safetensors", step=3)


def test_ctrl_c_while_the_last_state_is_saved_is_heard_too(tmp_path, monkeypatch):
    inner = Loop.save

    def pressed(self):
        os.kill(os.getpid(), signal.SIGINT)
        inner(self)

    monkeypatch.setattr(Loop, "save", pressed)
    with pytest.raises(Interrupted, match="after step 6 of 6; the state is saved"):
        looped(toy_updater(), tmp_path, every=0).run()
    assert_whole(tmp_path / "last.safetensors", step=6)


def test_ctrl_c_without_a_place_for_a_checkpoint_is_a_plain_interruption():
    with pytest.raises(KeyboardInterrupt):
        looped(toy_updater(), listener=StopAt(3)).run()


def test_a_checkpoint_interval_of_zero_still_writes_one_at_the_end(tmp_path):
    looped(toy_updater(), tmp_path, every=0).run()
    assert_whole(tmp_path / "last.safetensors", step=6)


@pytest.mark.parametrize(("every", "written"), [(1, 6), (4, 6), (100, 6)])
def test_the_last_step_is_always_in_the_checkpoint(tmp_path, every, written):
    looped(toy_updater(), tmp_path, every=every).run()
    assert_whole(tmp_path / "last.safetensors", step=written)


def test_an_undisturbed_learner_is_the_same_in_two_loops():
    first, second = toy_updater(learner=toy_learner(dropout=0.4)), toy_updater(learner=toy_learner(dropout=0.4))
    assert looped(first).run().history == looped(second).run().history


def counted(updater):
    """An updater whose learner keeps what it is asked of its parts."""
    asked: list[tuple[str, list[int] | None]] = []
    inner = updater.learner.part_logits

    def part_logits(module, part, rows=None):
        asked.append((part, None if rows is None else rows.tolist()))
        return inner(module, part, rows)

    updater.learner.part_logits = part_logits
    return updater, asked


def test_nothing_is_evaluated_twice_for_the_same_weights():
    """Six steps, looked at after every second: three times, and the last time's serves for the end too."""
    updater, asked = counted(toy_updater())
    trained = Loop(updater, Recorder(), {"dev": np.arange(9) % 3}).run()
    assert asked == [("dev", None)] * 3
    if trained.best_step == 6:
        torch.testing.assert_close(trained.logits["dev"], updater.learner.part_logits(updater.learner.networks, "dev"))


@pytest.mark.parametrize("scores", [[0.5, 0.9, 0.4], [0.5, 0.6, 0.9]])
def test_what_dev_gave_the_kept_weights_need_not_be_asked_again(scores):
    loop, _ = scripted(scores)
    known = loop.run().logits
    assert known.keys() == {"dev"}
    assert (known["dev"].argmax(-1) == 0).double().mean() == 0.9


def test_nothing_is_known_of_kept_weights_that_saw_some_of_dev_alone():
    loop, _ = scripted([0.0, 1.0, 0.0], evaluate_on=4)
    trained = loop.run()
    assert trained.best_step == 2
    assert trained.logits == {}


def test_a_checkpoint_can_be_chosen_on_some_of_the_dev_texts_and_is_scored_on_all():
    updater, asked = counted(toy_updater(evaluate_on=4))
    trained = Loop(updater, Recorder(), {"dev": np.arange(9) % 3}).run()
    assert [part for part, _ in asked] == ["dev"] * 4
    rows = asked[0][1]
    assert rows is not None
    assert rows == sorted(set(rows))
    assert len(rows) == 4
    assert [own for _, own in asked] == [rows] * 3 + [None]
    assert all(record["dev_accuracy"] * 4 == round(record["dev_accuracy"] * 4) for record in trained.history)
    own = toy_learner().part_logits(toy_learner().networks, "dev", np.array(rows))
    torch.testing.assert_close(own, toy_learner().part_logits(toy_learner().networks, "dev")[:, rows])


@pytest.mark.parametrize("wanted", [0, 9, 100])
def test_all_dev_texts_are_looked_at_where_so_many_are_asked_for(wanted):
    updater, asked = counted(toy_updater(evaluate_on=wanted))
    Loop(updater, Recorder(), {"dev": np.arange(9) % 3}).run()
    assert {rows is None for _, rows in asked} == {True}
