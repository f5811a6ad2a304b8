"""One outer step: which rows, how many optimiser steps, in how many parts."""

import json
import shutil
import weakref
from dataclasses import replace
from typing import Any

import pytest
import torch

from jointmatch.algorithms import ALGORITHMS, SAT, FixMatch
from jointmatch.errors import TrainingError
from jointmatch.training import FullLearner, Listener, Updater
from jointmatch.training.learner import Student
from jointmatch.training.updates import _parts
from jointmatch.types import PseudoLabels
from tests.unit.training.toy import Recorder, rows, tiny_run, toy_features, toy_learner, toy_updater, weights

KEEP_SOME = {"tau": 0.5, "unlabeled_weight": 5.0}


def after_steps(updater, steps=3):
    for number in range(steps):
        updater.step(number)
    return weights(updater.learner.networks)


def spy_on(learner, name, seen, limit=None):
    """Record the rows a learner is asked for; run out of memory above a number of texts."""
    inner = getattr(learner, name)

    def wrapped(ask):
        asked = [ask.labeled, ask.pool] if isinstance(ask, Student) else [ask.rows]
        if limit and sum(map(len, asked)) > limit:
            raise torch.OutOfMemoryError("simulated")
        seen.append([a.tolist() for a in asked])
        return inner(ask)

    setattr(learner, name, wrapped)


@pytest.mark.parametrize(
    ("warmup", "steps", "decay"), [(True, 1000, 0.1), (False, 1000, 0.9), (False, 40, 0.8), (True, 40, 0.1)]
)
def test_the_average_leaves_its_start_as_the_settings_say(warmup, steps, decay):
    """After one step it holds the start by the decay: 0.9, in 40 steps 1 - 8 / 40, with warm-up (1 + 0) / (10 + 0)."""
    updater = toy_updater(average_decay=0.9, average_warmup=warmup, steps=steps)
    start = weights(updater.learner.networks).clone()
    now = after_steps(updater, 1)
    assert updater.averaged is not None
    torch.testing.assert_close(weights(updater.averaged.module), decay * start + (1 - decay) * now)
    assert not torch.equal(start, now)


@pytest.mark.parametrize("update", ["joint", "alternating"])
@pytest.mark.parametrize(("accumulate", "batch_size"), [(2, 4), (4, 4), (4, 5), (7, 3), (50, 4)])
def test_micro_batches_give_the_gradient_step_of_the_whole_batch(update, accumulate, batch_size):
    shape = {"batch_size": batch_size, "update": update, "settings": KEEP_SOME}
    whole = after_steps(toy_updater(**shape))
    torch.testing.assert_close(after_steps(toy_updater(accumulate=accumulate, **shape)), whole, atol=1e-5, rtol=1e-4)
    assert not torch.equal(whole, weights(toy_learner().networks))


def test_micro_batches_of_texts_give_the_gradient_step_of_the_whole_batch(tiny_backbone, tmp_path):
    folder = shutil.copytree(tiny_backbone, tmp_path / "undropped")
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    settings: dict[str, dict] = {"augment": {"weak": "none", "strong": ["none"]}, "network": {"head_dropout": 0.0}}
    found = [
        tiny_run(
            folder, {**settings, "training": {"mode": "full", "precision": "fp32", "steps": 3, "accumulate": parts}}
        )
        for parts in (1, 4)
    ]
    whole, split = (weights(outcome.model.networks) for outcome in found)
    torch.testing.assert_close(split, whole, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("algorithm", "update"), [("supervised", "joint"), ("jointmatch", "alternating")])
def test_more_micro_batches_than_texts_are_no_problem_in_full(tiny_backbone, algorithm, update):
    training = {"mode": "full", "steps": 1, "accumulate": 16, "update": update}
    outcome = tiny_run(tiny_backbone, {"algorithm": {"name": algorithm}, "training": training})
    assert outcome.result["steps"] == 1


@pytest.mark.parametrize(("update", "places"), [("joint", [(0, 1), (0, 1)]), ("alternating", [(0, 2), (1, 2)] * 2)])
def test_a_method_is_told_which_batch_of_the_step_it_gets(update, places):
    """mu 2: two batches a step, one after the other, or both as one."""
    updater = toy_updater(update=update, batch_size=4, mu=2)
    seen, pseudo_label = [], updater.algorithm.pseudo_label

    def spied(logits, step):
        seen.append(step)
        return pseudo_label(logits, step)

    updater.algorithm.pseudo_label = spied  # type: ignore[method-assign]
    for number in range(2):
        updater.step(number)
    assert [(step.turn, step.turns) for step in seen] == places
    assert [step.batch for step in seen] == list(range(len(places)))


def test_no_gradient_is_left_over_from_the_step_before():
    """At a rate of next to nothing the second step on the same batch has the gradient of the first."""
    updater = toy_updater("supervised", batch_size=0, learning_rate=1e-12)
    gradients = []
    for number in range(2):
        updater.step(number)
        gradients.append([p.grad.clone() for p in updater.learner.networks.parameters()])  # type: ignore[union-attr]
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.parametrize(
    ("algorithm", "update", "steps"),
    [
        ("jointmatch", "joint", 1),
        ("jointmatch", "alternating", 3),
        ("supervised", "joint", 1),
        ("supervised", "alternating", 1),
    ],
)
def test_joint_is_one_optimiser_step_and_alternating_one_plus_mu(algorithm, update, steps):
    updater = toy_updater(algorithm, update=update, mu=2)
    taken: list[int] = []
    updater.optimizer.register_step_post_hook(lambda *_: taken.append(1))
    updater.step(0)
    assert len(taken) == steps


def test_alternating_goes_over_the_labels_first_and_then_over_each_part_of_the_pool():
    learner = toy_learner()
    seen: list[list[list[int]]] = []
    spy_on(learner, "student_logits", seen)
    updater = toy_updater(learner=learner, update="alternating", mu=2, batch_size=4)
    updater.step(0)
    assert [tuple(map(len, asked)) for asked in seen] == [(4, 0), (0, 4), (0, 4)]
    assert [r for asked in seen for r in asked[1]] == updater.pool[0].tolist()


@pytest.mark.parametrize("pool", [0, 24])
def test_supervised_training_never_asks_for_the_pool(pool):
    learner = toy_learner(features=toy_features(pool=pool))
    seen: list[list[list[int]]] = []
    spy_on(learner, "student_logits", seen)
    spy_on(learner, "weak_logits", seen)
    toy_updater("supervised", learner=learner).step(0)
    assert [len(asked[1]) for asked in seen] == [0]


def test_without_a_pool_any_algorithm_trains_on_the_labels_alone():
    bare = toy_learner(features=toy_features(pool=0))
    assert torch.equal(after_steps(toy_updater(learner=bare)), after_steps(toy_updater("supervised")))


@pytest.mark.parametrize("limit", [3, 6, 11])
def test_out_of_memory_goes_on_with_smaller_micro_batches_to_the_same_result(limit):
    """Twelve texts a step: 6 at a time takes 2 parts, 3 at a time 4, 11 at a time 2."""
    learner, listener = toy_learner(), Recorder()
    spy_on(learner, "student_logits", [], limit)
    updater = toy_updater(learner=learner, listener=listener, settings=KEEP_SOME)
    calm = toy_updater(settings=KEEP_SOME)
    torch.testing.assert_close(after_steps(updater), after_steps(calm), atol=1e-5, rtol=1e-4)
    assert updater.accumulate == {3: 4, 6: 2, 11: 2}[limit]
    assert len(listener.notes) == {3: 2, 6: 1, 11: 1}[limit]
    assert f"{updater.accumulate} micro-batches" in listener.notes[-1]
    torch.testing.assert_close(updater.algorithm.thresholds(), calm.algorithm.thresholds())


@pytest.mark.parametrize("name", ["student_logits", "weak_logits"])
def test_a_failed_pass_holds_no_memory_while_the_next_one_runs(name):
    learner = toy_learner()
    inner = getattr(learner, name)
    failed: list[weakref.ref] = []
    alive: list[bool] = []

    def once_too_large(*args):
        if not failed:
            activations = torch.zeros(8)
            failed.append(weakref.ref(activations))
            raise torch.OutOfMemoryError("simulated")
        alive.append(failed[0]() is not None)
        return inner(*args)

    setattr(learner, name, once_too_large)
    toy_updater(learner=learner).step(0)
    assert alive
    assert not any(alive)


def test_out_of_memory_while_labelling_counts_the_batch_once():
    learner = toy_learner()
    spy_on(learner, "weak_logits", [], limit=2)
    updater, calm = toy_updater(learner=learner), toy_updater()
    torch.testing.assert_close(after_steps(updater, 1), after_steps(calm, 1), atol=1e-5, rtol=1e-4)
    assert updater.counts.state_dict()["seen"] == calm.counts.state_dict()["seen"] == 16
    torch.testing.assert_close(updater.algorithm.thresholds(), calm.algorithm.thresholds())


@pytest.mark.parametrize("name", ["student_logits", "weak_logits"])
def test_out_of_memory_with_one_text_at_a_time_stops_and_says_what_to_try(monkeypatch, name):
    learner = toy_learner()

    def never(*_):
        raise torch.OutOfMemoryError("simulated")

    monkeypatch.setattr(learner, name, never)
    with pytest.raises(TrainingError, match="max_length"):
        toy_updater(learner=learner).step(0)


def test_micro_batches_do_not_change_what_uda_learns_from_labels():
    """At the first step only labels less sure than 1 / 3 are learnt from: some parts of the batch have none."""
    shape: dict[str, Any] = {"batch_size": 6, "settings": {"annealing": "linear"}}
    whole, parted = (toy_updater("uda", accumulate=count, **shape) for count in (1, 4))
    torch.testing.assert_close(after_steps(parted), after_steps(whole), atol=1e-5, rtol=1e-4)
    assert parted.counts.loss == pytest.approx(float(whole.counts.loss), abs=1e-5)


@pytest.mark.parametrize("name", ["aumst", "s2tcbdd"])
def test_what_a_loss_notes_is_noted_once_though_memory_ran_out_on_the_way(name):
    """At the second step the second of two micro-batches fails, so that the first is asked for again."""
    learner = toy_learner(extra=ALGORITHMS[name].extra_classes)
    inner, asked = learner.student_logits, []

    def fails_once(ask):
        asked.append(ask)
        if len(asked) == 4:
            raise torch.OutOfMemoryError("simulated")
        return inner(ask)

    learner.student_logits = fails_once  # type: ignore[method-assign]
    settings = {"teacher_share": 0.0, "tau": 0.0} if name == "aumst" else {}  # a probe from the second step on
    shape: dict[str, Any] = {"accumulate": 2, "settings": settings, "steps": 20}
    updater, calm = toy_updater(name, learner=learner, **shape), toy_updater(name, **shape)
    after_steps(updater, 2)
    after_steps(calm, 2)
    assert updater.accumulate == 4
    for key, value in calm.algorithm.state_dict().items():
        torch.testing.assert_close(updater.algorithm.state_dict()[key], value, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (torch.zeros(2, 16), "Wrong.pseudo_label gave a Tensor, wanted PseudoLabels"),
        (PseudoLabels(*torch.zeros(3, 16)), r"targets \(16,\).*wanted a row for each of 2 networks"),
        (PseudoLabels(*torch.zeros(3, 1, 16)), "wanted a row for each of 2 networks"),
        (PseudoLabels(torch.zeros(2, 16, 3), torch.zeros(2, 16), torch.zeros(2, 8)), r"weights \(2, 8\)"),
    ],
)
def test_labels_of_the_wrong_shape_are_told_by_the_algorithms_name(labels, message):
    class Wrong(FixMatch):
        def pseudo_label(self, weak_logits, step):
            return labels

    updater = toy_updater()
    updater.algorithm = Wrong(updater.algorithm.task)
    with pytest.raises(TrainingError, match=message):
        updater.step(0)


@pytest.mark.parametrize(("label_dropout", "seeds"), [(False, 0), (True, 2)])
def test_labels_are_made_without_gradient_and_with_dropout_only_if_asked(label_dropout, seeds):
    learner = toy_learner(dropout=0.5)
    inner, seen = learner.weak_logits, []

    def spy(ask):
        logits = inner(ask)
        seen.append((len(ask.seeds or []), ask.module.training, logits.requires_grad))
        return logits

    learner.weak_logits = spy  # type: ignore[method-assign]
    updater = toy_updater(learner=learner, label_dropout=label_dropout)
    updater.step(0)
    assert seen == [(seeds, label_dropout, False)]
    assert learner.networks.training


@pytest.mark.parametrize("average_labels", [False, True])
def test_the_averaged_weights_make_the_labels_only_if_asked(average_labels):
    learner = toy_learner()
    inner, asked = learner.weak_logits, []
    learner.weak_logits = lambda ask: asked.append(ask.module) or inner(ask)  # type: ignore
    updater = toy_updater(learner=learner, average_decay=0.9, average_labels=average_labels)
    updater.step(0)
    assert updater.averaged is not None
    assert asked == [updater.averaged.module if average_labels else learner.networks]
    assert updater.evaluated is updater.averaged.module


def test_parts_are_even_and_never_empty():
    assert [p.tolist() for p in _parts(rows(1, 2, 3, 4, 5), 2)] == [[1, 2, 3], [4, 5]]
    assert [p.tolist() for p in _parts(rows(1), 3)] == [[1]]
    assert list(_parts(rows(), 3)) == []


@pytest.mark.parametrize("update", ["joint", "alternating"])
def test_every_part_of_every_turn_and_step_draws_its_own_views(update):
    learner = toy_learner()
    inner, drawn = learner.student_logits, []
    learner.student_logits = lambda ask: drawn.append(ask.draw) or inner(ask)  # type: ignore
    updater = toy_updater(learner=learner, update=update, accumulate=2, mu=2)
    for number in range(2):
        updater.step(number)
    assert len(drawn) == len(set(drawn)) == {"joint": 4, "alternating": 12}[update]


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_student_reads_the_very_texts_that_the_labels_were_made_from(tiny_backbone, monkeypatch, accumulate):
    """Of all views of every text, the one that the labels say: rows in turn the first, the second and the third."""
    taught: list[list[list[int]]] = []
    students: list[list[list[list[int]]]] = []

    def listen(name, hear):
        inner = getattr(FullLearner, name)

        def heard(self, ask):
            tokens = inner(self, ask)
            hear([[row[:size].tolist() for row, size in zip(own.ids, own.lengths, strict=True)] for own in tokens])
            return tokens

        monkeypatch.setattr(FullLearner, name, heard)

    listen("weak_inputs", lambda read: taught.append(read[0]))
    listen("student_inputs", students.append)

    def alternate(self, weak_logits, step):
        labels = FixMatch.pseudo_label(self, weak_logits[0], step)
        return replace(labels, views=torch.stack([torch.arange(8) % 3, 2 - torch.arange(8) % 3]))

    monkeypatch.setattr(SAT, "pseudo_label", alternate)
    augment = {"weak": "deletion:0.3", "strong": ["deletion:0.5"]}
    training = {"mode": "full", "steps": 1, "accumulate": accumulate}
    settings: dict[str, dict] = {
        "algorithm": {"name": "sat"},
        "network": {"count": 2},
        "augment": augment,
        "training": training,
    }
    tiny_run(tiny_backbone, settings)
    size, labeled = 8 // accumulate, 4 // accumulate
    views = [[text for part in taught[i * accumulate : (i + 1) * accumulate] for text in part] for i in range(3)]
    assert views[0] != views[1] != views[2]
    for part, texts in enumerate(students):
        own = range(part * size, (part + 1) * size)
        assert texts[0][labeled:] == [views[i % 3][i] for i in own]
        assert texts[1][labeled:] == [views[2 - i % 3][i] for i in own]
    assert len(students) == accumulate


def test_an_algorithm_that_learns_from_labelled_views_is_given_every_view_of_the_batchs_texts():
    features = toy_features()
    features.labeled_strong.append(features.labeled + 1)
    updater = toy_updater("sat", toy_learner(features=features), batch_size=4)
    heads = updater.learner.networks
    strong = heads(features.labeled_strong[0])
    wanted = torch.stack([heads(features.labeled), strong, strong]).detach()
    seen = []
    updater.algorithm.labeled_views_loss = lambda *args: seen.append(args) or torch.zeros(2)  # type: ignore
    batch = updater.labeled[0]
    updater.step(0)
    ((views, y, _),) = seen
    torch.testing.assert_close(views, wanted[:, :, batch])
    assert not views.requires_grad
    assert y.tolist() == features.labels[batch].tolist()


@pytest.mark.parametrize(("algorithm", "said"), [("coteaching", True), ("freematch", True), ("jointmatch", False)])
def test_a_loss_that_looks_at_the_whole_batch_is_said_to_change_in_micro_batches(algorithm, said):
    told: list[str] = []

    class Heard(Listener):
        def warn(self, text):
            told.append(text)

    updater = toy_updater(algorithm, accumulate=2)
    Updater(updater.learner, updater.algorithm, updater.config, updater.truth, Heard())
    assert [("not quite the same rule" in text) for text in told] == [True] * said
