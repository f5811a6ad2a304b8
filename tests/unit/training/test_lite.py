"""Frozen features of every view, and heads over them."""

import pytest
import torch

from jointmatch.augment import Surroundings
from jointmatch.cache import Cache
from jointmatch.config import AugmentConfig, NetworkConfig
from jointmatch.data import Texts
from jointmatch.networks import Encoder, Tokenizer, find_backbone, load_tokenizer, load_transformer
from jointmatch.training import FeatureSet, Listener, Loop, ViewMaker, Views, build_heads, extract_features
from jointmatch.training.learner import ChosenViews, Student
from tests.unit.training.toy import WIDTH, Recorder, rows, topic_splits, toy_features, toy_learner, toy_updater

CPU = torch.device("cpu")


@pytest.fixture
def extracted(tiny_backbone):
    backbone = find_backbone(str(tiny_backbone))

    def extract(splits, listener=None, labeled_strong=False, **augment):
        encoder = Encoder(load_transformer(backbone), [1.0, 0.5], "mean")
        tokenizer = Tokenizer(load_tokenizer(backbone), 16)
        views = Views(AugmentConfig(**augment), 0)
        for own in views.for_networks(2):
            ViewMaker(splits, Surroundings("[MASK]"), Listener()).make(own, True, labeled_strong)
        hears = listener or Recorder()
        return extract_features(
            splits, views, encoder, backbone, tokenizer, CPU, Cache("features"), hears, labeled_strong
        )

    return extract


def test_every_part_and_view_has_its_features(extracted):
    found = extracted(topic_splits(), strong=("deletion:0.5", "none"))
    assert found.labeled.shape == (2, 6, 16)
    assert found.weak.shape == (2, 24, 16)
    assert [view.shape for view in found.strong] == [(2, 24, 16)] * 2
    assert {name: part.shape[1] for name, part in found.parts.items()} == {"dev": 9, "test": 6, "pool": 24}
    assert torch.equal(found.strong[1], found.weak)
    assert not torch.equal(found.strong[0], found.weak)


def test_the_users_own_views_win(extracted):
    splits = topic_splits()
    pool = splits.pool
    own = Texts(pool.texts, pool.labels, weak=pool.texts[::-1], strong=["apple"] * len(pool))
    found = extracted(type(splits)(splits.classes, splits.labeled, own), strong=("none", "deletion"))
    plain = extracted(splits)
    assert torch.equal(found.weak, plain.weak.flip(1))
    assert len(found.strong) == 1
    assert (found.strong[0] == found.strong[0][:, :1]).all()


def test_progress_ends_at_the_total_it_began_with(extracted):
    listener = Recorder()
    extracted(topic_splits(), listener, strong=("none",))
    assert listener.stages == [("features", listener.steps)]


def test_a_fold_moves_rows_from_the_labelled_to_the_held_out():
    features = toy_features()
    fold = features.fold(torch.tensor([1, 4]))
    assert fold.labels.tolist() == [0, 2, 0, 2]
    assert torch.equal(fold.labeled, features.labeled[:, [0, 2, 3, 5]])
    assert torch.equal(fold.parts["held_out"], features.labeled[:, [1, 4]])
    assert "dev" not in fold.parts


@pytest.mark.parametrize("pool", [0, 24])
def test_heads_are_centred_on_the_pool_or_without_one_on_the_labels(pool):
    features = toy_features(pool=pool)
    heads = build_heads(features, NetworkConfig(normalize=True), 3, seed=0)
    for i, head in enumerate(heads.each()):
        torch.testing.assert_close(head.center, (features.weak if pool else features.labeled)[i].mean(0))


def test_prototype_heads_know_the_labelled_texts_before_the_first_step():
    features = toy_features()

    def right(head_init):
        config = NetworkConfig(normalize=True, head_init=head_init, prototype_scale=5.0)
        several = [build_heads(features, config, 3, seed).eval() for seed in range(20)]
        return torch.stack([heads(features.labeled).argmax(-1) == features.labels for heads in several]).float().mean()

    assert right("prototype") > 0.9
    assert right("random") < 0.6


def two_views():
    """Features that say which view they are: 1 everywhere, or 2."""
    base = toy_features()
    views = [torch.full_like(base.weak, 1.0), torch.full_like(base.weak, 2.0)]
    return toy_learner(features=FeatureSet(base.labeled, base.labels, base.weak, views, base.parts))


def seen_views(learner, pool, draw):
    inputs = []
    hook = learner.heads[0].register_forward_pre_hook(lambda _, given: inputs.append(given[0][:, 0]))
    learner.student_logits(Student(rows(), pool, [0, 0], draw))
    hook.remove()
    return inputs[0].tolist()


def test_the_students_view_is_drawn_for_each_text_by_the_draws_seed():
    learner, pool = two_views(), rows(*range(24))
    first, second = seen_views(learner, pool, 0), seen_views(learner, pool, 1)
    assert set(first) == {1.0, 2.0}
    assert first != second
    assert first == seen_views(learner, pool, 0)


def test_labelled_and_unlabelled_logits_come_apart_again():
    learner = toy_learner()
    given, unlabeled = learner.student_logits(Student(rows(0, 1), rows(3, 4, 5), [0, 0], 0))
    assert given.shape == (2, 2, 3)
    torch.testing.assert_close(given, learner.heads(learner.features.labeled[:, [0, 1]]))
    torch.testing.assert_close(unlabeled, learner.heads(learner.features.strong[0][:, [3, 4, 5]]))


def test_each_network_reads_the_view_that_was_chosen_for_it_and_the_text():
    learner = two_views()
    weak = learner.features.weak
    chosen = ChosenViews(torch.tensor([[0, 1, 2], [2, 2, 0]]), [7, 8, 9])
    _, logits = learner.student_logits(Student(rows(), rows(3, 4, 5), [0, 0], 0, chosen))
    one, two = torch.ones(WIDTH), torch.full((WIDTH,), 2.0)
    wanted = torch.stack([torch.stack([weak[0, 3], one, two]), torch.stack([two, two, weak[1, 5]])])
    torch.testing.assert_close(logits, learner.heads(wanted))


def test_views_beyond_the_last_strong_one_start_again():
    features = two_views().features
    assert [features.view(i)[0, 0, 0].item() for i in (1, 2, 3)] == [1.0, 2.0, 1.0]


def test_the_labelled_texts_have_strong_views_only_if_asked_for(extracted):
    assert extracted(topic_splits(), strong=("deletion:0.5", "none")).labeled_strong == []
    found = extracted(topic_splits(), labeled_strong=True, strong=("deletion:0.5", "none"))
    assert [view.shape for view in found.labeled_strong] == [(2, 6, 16)] * 2
    assert torch.equal(found.view(2, "labeled"), found.labeled)
    assert not torch.equal(found.view(1, "labeled"), found.labeled)
    fold = found.fold(torch.tensor([0, 3]))
    assert torch.equal(fold.labeled_strong[0], found.labeled_strong[0][:, [1, 2, 4, 5]])


def test_heads_on_a_cpu_are_trained_in_one_thread_and_the_callers_count_is_put_back(monkeypatch):
    """Threads that wait for each other in a busy loop stand still where others want the cores."""
    updater, seen = toy_updater(), []
    step = updater.conversation

    def spied(number):
        seen.append(torch.get_num_threads())
        return step(number)

    monkeypatch.setattr(updater, "conversation", spied)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        Loop(updater, Listener()).run()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}
