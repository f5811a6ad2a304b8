"""Texts mixed with each other while training: targets alike, the same at every resumption, off where it says so."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from jointmatch.algorithms import FixMatch, MixText
from jointmatch.config import TrainingConfig
from jointmatch.errors import Interrupted
from jointmatch.training import Listener, Updater
from jointmatch.training.learner import ChosenViews, Student
from jointmatch.training.mixing import in_every_view, mix_targets
from jointmatch.types import Mixing, PseudoLabels, Task
from tests.unit.training.toy import (
    CLASSES,
    SMALL,
    StopAt,
    same_state,
    tiny_run,
    toy_features,
    toy_learner,
    toy_updater,
    weights,
)

THREE_VIEWS = {"strong": ["deletion:0.2", "swap:0.2"]}
NEW = ["crisismatch", "decrisismb", "meanteacher", "mixtext"]


def labels_of(targets):
    return PseudoLabels(targets, torch.tensor([[True, False]]), torch.tensor([[1.0, 0.5]]))


@pytest.mark.parametrize("soft", [False, True])
def test_targets_are_mixed_as_the_texts_are(soft):
    """Labels 0 and 2 of three, pseudo-labels 1 and 2, partners 3 0 1 2, share 0.75:
    0.75 of 0 and 0.25 of 2; of 2 and 0; of 1 and 2; of 2 and 1."""
    targets = torch.tensor([[1, 2]])
    if soft:
        targets = torch.nn.functional.one_hot(targets, 3).float()
    y, labels = mix_targets(torch.tensor([0, 2]), labels_of(targets), Mixing(torch.tensor([[3, 0, 1, 2]]), 0.75), 3)
    assert y.tolist() == [[[0.75, 0.0, 0.25], [0.25, 0.0, 0.75]]]
    assert labels is not None
    assert labels.targets.tolist() == [[[0.0, 0.75, 0.25], [0.0, 0.25, 0.75]]]
    assert labels.selected.tolist() == [[True, False]]
    assert labels.weights.tolist() == [[1.0, 0.5]]


def test_each_network_mixes_its_own_targets():
    mixing = Mixing(torch.tensor([[0, 1], [1, 0]]), 0.75)
    y, labels = mix_targets(torch.tensor([0, 1]), None, mixing, 2)
    assert labels is None
    assert y.tolist() == [[[1.0, 0.0], [0.0, 1.0]], [[0.75, 0.25], [0.25, 0.75]]]


class Mixed(FixMatch):
    """FixMatch whose texts are mixed as a test says."""

    share = 1.0
    name = "mixed"
    asked: list[tuple[int, int, int, int]]

    def mixing(self, labeled, labels, step, rng):
        count = labeled + (0 if labels is None else labels.selected.shape[1])
        self.asked.append((labeled, count - labeled, step.number, rng.integers(10**9)))
        return Mixing(torch.arange(count).flip(0).expand(self.task.num_networks, -1), self.share)


def mixed_updater(share=1.0, rule=Mixed, networks=2, dropout=0.3, settings=None, **training):
    learner = toy_learner(dropout, networks)
    own = rule(Task(CLASSES, networks, learner.pool_size), **settings or {"tau": 0.5})
    own.asked = []
    own.share = share
    truth = torch.arange(learner.pool_size) % CLASSES
    return Updater(learner, own, TrainingConfig(**{**SMALL, **training}), truth, Listener())


def trained(updater, steps=3):
    for number in range(steps):
        updater.step(number)
    return weights(updater.learner.networks)


@pytest.mark.parametrize("shape", [{}, {"update": "alternating"}, {"accumulate": 3}])
def test_a_share_of_one_is_no_mixing_bit_for_bit(shape):
    plain = toy_updater("fixmatch", toy_learner(0.3), settings={"tau": 0.5}, **shape)
    assert torch.equal(trained(mixed_updater(1.0, **shape)), trained(plain))


@pytest.mark.parametrize(("share", "asked"), [(1.0, False), (0.9, True)])
def test_a_learner_is_asked_for_a_mix_only_where_there_is_one(share, asked):
    updater = mixed_updater(share)
    inner, seen = updater.learner.student_logits, []

    updater.learner.student_logits = lambda ask: seen.append(ask.mixing is not None) or inner(ask)  # type: ignore
    updater.step(0)
    assert seen == [asked]


@pytest.mark.parametrize("share", [0.6, 0.9])
def test_any_other_share_trains_on_something_else(share):
    assert not torch.allclose(trained(mixed_updater(share)), trained(mixed_updater(1.0)))


@pytest.mark.parametrize("shape", [{}, {"accumulate": 2}])
def test_the_losses_are_given_the_mixed_targets(shape):
    """Of each text 0.75 of its own label; the first is mixed with the last, a labelled one with an unlabelled one."""
    updater = mixed_updater(0.75, **shape)
    given, taught = [], []
    supervised, unsupervised = updater.algorithm.supervised_loss, updater.algorithm.unsupervised_loss
    updater.algorithm.supervised_loss = lambda x, y, at: given.append(y) or supervised(x, y, at)  # type: ignore
    updater.algorithm.unsupervised_loss = lambda x, own, at: taught.append(own) or unsupervised(x, own, at)  # type: ignore
    updater.step(0)
    labels = updater.learner.labels[torch.as_tensor(updater.labeled[0])]
    for targets in (torch.cat(given, 1), torch.cat([own.targets for own in taught], 1)):
        torch.testing.assert_close(targets.sum(-1), torch.ones(targets.shape[:2]))
        assert set(targets.amax(-1).unique().tolist()) == {0.75, 1.0}
    assert torch.cat(given, 1).argmax(-1).tolist() == [labels.tolist()] * 2


def test_chance_is_a_function_of_the_step_and_the_micro_batch_and_each_is_asked_for_itself():
    """Four labelled and eight unlabelled texts in two parts, at two steps."""
    runs = []
    for _ in range(2):
        updater = mixed_updater(0.8, accumulate=2)
        trained(updater, 2)
        runs.append(updater.algorithm.asked)
    assert runs[0] == runs[1]
    assert [asked[:3] for asked in runs[0]] == [(2, 4, 0), (2, 4, 0), (2, 4, 1), (2, 4, 1)]
    assert len({asked[3] for asked in runs[0]}) == 4


def test_another_seed_mixes_otherwise():
    drawn = []
    for seed in (0, 1):
        updater = mixed_updater(0.8, seed=seed)
        trained(updater, 1)
        drawn.append(updater.algorithm.asked[0][3])
    assert drawn[0] != drawn[1]


def test_in_lite_the_logits_of_a_linear_head_and_the_loss_are_those_of_the_mix():
    """Without dropout and normalising a linear head is linear: the mix's logits are the mixed logits."""
    learner = toy_learner()
    labeled, pool = np.arange(2), np.arange(3)
    partner = torch.tensor([[4, 3, 2, 1, 0], [1, 0, 3, 4, 2]])
    plain = torch.cat(learner.student_logits(Student(labeled, pool, [0, 1], 0)), dim=1)
    mixed = torch.cat(learner.student_logits(Student(labeled, pool, [0, 1], 0, mixing=Mixing(partner, 0.7))), dim=1)
    for n in range(2):
        torch.testing.assert_close(mixed[n], 0.7 * plain[n] + 0.3 * plain[n, partner[n]])


@pytest.mark.parametrize("soft", [False, True])
def test_repeated_labels_are_the_batch_over_and_over(soft):
    targets = torch.tensor([[[0.9, 0.1], [0.2, 0.8]]]) if soft else torch.tensor([[0, 1]])
    labels = in_every_view(labels_of(targets), 2, torch.tensor([7, 8]), [2])
    assert labels.targets.tolist() == [targets[0].tolist() * 2]
    assert labels.selected.tolist() == [[True, False, True, False]]
    assert labels.weights.tolist() == [[1.0, 0.5, 1.0, 0.5]]
    assert labels.rows is not None
    assert labels.rows.tolist() == [7, 8, 7, 8]
    assert labels.views is not None
    assert labels.views.tolist() == [[0, 0, 1, 1]]


def test_all_views_of_a_micro_batch_stay_together():
    """Texts 7 and 8, one in each: weak and strong of 7, then of 8."""
    labels = in_every_view(labels_of(torch.tensor([[0, 1]])), 2, torch.tensor([7, 8]), [1, 1])
    assert labels.rows is not None
    assert labels.rows.tolist() == [7, 7, 8, 8]
    assert labels.views is not None
    assert labels.views.tolist() == [[0, 1, 0, 1]]
    assert labels.targets.tolist() == [[0, 0, 1, 1]]


def test_the_student_reads_every_view_of_each_text_and_the_labels_are_repeated_for_them():
    features = toy_features()
    features = replace(features, strong=[features.strong[0], features.strong[0] + 1])
    learner = toy_learner(features=features)
    updater = toy_updater("mixtext", learner, batch_size=4, mu=2)
    seen, inner = [], learner.student_logits

    learner.student_logits = lambda ask: seen.append((ask.pool, ask.chosen.which)) or inner(ask)  # type: ignore
    updater.step(0)
    ((pool, views),) = seen
    assert pool.tolist() == updater.pool[0].tolist() * 3
    assert views.tolist() == [[0] * 8 + [1] * 8 + [2] * 8] * 2


def test_views_that_are_named_are_the_ones_that_are_read():
    """View 0 is the weak one, 1 and 2 the strong ones, 3 the first strong one again."""
    features = toy_features()
    features = replace(features, strong=[features.strong[0], features.strong[0] + 1])
    learner = toy_learner(features=features)
    pool = np.array([5, 6, 7, 8])
    chosen = ChosenViews(torch.tensor([[0, 1, 2, 3]] * 2), [0, 0, 0, 0])
    _, logits = learner.student_logits(Student(np.arange(1), pool, [0, 1], 0, chosen))
    kinds = [features.weak, features.strong[0], features.strong[1], features.strong[0]]
    for i, (row, kind) in enumerate(zip(pool, kinds, strict=True)):
        torch.testing.assert_close(logits[:, i], learner.heads(kind[:, [row]])[:, 0])


def test_mixtext_that_mixes_nothing_over_one_view_trains_as_fixmatch_with_soft_labels():
    """Share 1, one view, T 1, no ramp: cross-entropy to soft labels of every text, up to a constant."""

    class Alone(MixText):
        num_views = 1
        every_view = False
        name = "alone"

        def mixing(self, labeled, labels, step, rng):
            return replace(super().mixing(labeled, labels, step, rng), share=1.0)

    mine = trained(mixed_updater(rule=Alone, settings={"temperature": 1.0, "ramp": 0.0}))
    plain = toy_updater("fixmatch", toy_learner(0.3), settings={"tau": 0.0, "targets": "soft"})
    torch.testing.assert_close(mine, trained(plain), atol=1e-5, rtol=1e-4)


def test_texts_drawn_from_the_memory_are_the_ones_trained_on():
    learner = toy_learner()
    updater = toy_updater("decrisismb", learner, settings={"tau": 0.0, "per_class": 1, "bank_size": 8}, mu=4)
    seen, inner = [], learner.student_logits
    learner.student_logits = lambda ask: seen.append(ask.pool) or inner(ask)  # type: ignore
    for number in range(4):
        updater.step(number)
        bank: Any = updater.algorithm.bank
        if (bank.filled > 0).all():
            for c, row in enumerate(seen[-1]):
                assert row in bank.texts[c, : bank.filled[c]].tolist()
    assert len(seen[-1]) == CLASSES


@pytest.mark.parametrize("algorithm", NEW)
@pytest.mark.parametrize("mode", ["lite", "full"])
def test_a_run_stopped_and_resumed_ends_as_if_never_stopped(tiny_backbone, tmp_path, mode, algorithm):
    own = {"per_class": 1, "tau": 0.0} if algorithm == "decrisismb" else {}
    settings = {"training": {"mode": mode}, "augment": THREE_VIEWS, "algorithm": {"name": algorithm, **own}}
    whole = tiny_run(tiny_backbone, settings)
    with pytest.raises(Interrupted):
        tiny_run(tiny_backbone, settings, tmp_path, StopAt(3))
    resumed = tiny_run(tiny_backbone, settings, tmp_path, resume=True)
    assert resumed.history == whole.history
    assert same_state(resumed.model.networks, whole.model.networks)


@pytest.mark.parametrize("mode", ["lite", "full"])
@pytest.mark.parametrize("shape", [{"accumulate": 3}, {"update": "alternating"}])
def test_mixing_works_in_parts_and_in_turns_and_with_several_networks(tiny_backbone, mode, shape):
    settings = {
        "training": {"mode": mode, "steps": 2, **shape},
        "augment": THREE_VIEWS,
        "algorithm": {"name": "crisismatch", "tau": 0.3, "ramp_steps": 0},
        "network": {"count": 2},
    }
    assert tiny_run(tiny_backbone, settings).result["steps"] == 2


def test_mixing_hidden_states_changes_what_is_learnt_in_full(tiny_backbone):
    """The same run but for the shares, which a small alpha leaves near 1."""
    runs = [
        tiny_run(tiny_backbone, {"training": {"mode": "full"}, "algorithm": {"name": "mixtext", "alpha": alpha}})
        for alpha in (16.0, 0.01)
    ]
    assert not same_state(runs[0].model.networks, runs[1].model.networks)


@pytest.mark.parametrize("algorithm", ["mixtext", "crisismatch", "sat"])
@pytest.mark.parametrize(("accumulate", "limit"), [(1, None), (2, None), (3, None), (1, 9)])
def test_what_is_learnt_from_is_what_was_labelled_whatever_the_micro_batches(algorithm, accumulate, limit):
    """Views are drawn for the texts of a micro-batch together, so the same draw must be of the same texts.

    With a limit, memory runs out in the student's pass, and what is read after that is in smaller parts.
    """
    features = toy_features()
    learner = toy_learner(features=replace(features, labeled_strong=[features.labeled + 1]))
    updater = toy_updater(algorithm, learner, batch_size=4, mu=2, accumulate=accumulate)
    weak, labelled, student = learner.weak_logits, {}, learner.student_logits
    read: list[Student] = []

    def label(ask):
        if ask.part == "pool":
            labelled[ask.draw] = ask.rows.tolist()
        return weak(ask)

    def learn(ask):
        if limit and len(ask.labeled) + len(ask.pool) > limit:
            raise torch.OutOfMemoryError("simulated")
        read.append(ask)
        return student(ask)

    learner.weak_logits, learner.student_logits = label, learn  # type: ignore[method-assign]
    updater.step(0)
    asks = [ask for ask in read if ask.chosen is not None]
    assert asks
    for ask in asks:
        assert ask.chosen is not None
        for draw in ask.chosen.draws:
            assert labelled[draw] == list(dict.fromkeys(ask.pool.tolist()))
    assert len({row for ask in asks for row in ask.pool.tolist()}) == 8
