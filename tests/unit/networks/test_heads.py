"""Heads: where they start, what they normalise, and that they do not disturb each other."""

import pytest
import torch

from jointmatch.networks import Heads, HeadShape, dropout_seeds

SHAPE = HeadShape(width=8, num_classes=3, dropout=0.5)
PLAIN = HeadShape(width=2, num_classes=2, dropout=0.0)
FEATURES = torch.randn(3, 20, 8, generator=torch.Generator().manual_seed(0))


def weights(heads):
    return [head.classify.weight.clone() for head in heads.each()]


def test_the_networks_start_differently():
    a, b, c = weights(Heads(SHAPE, 3))
    assert not torch.equal(a, b)
    assert not torch.equal(b, c)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_networks_start_depends_on_the_seed_and_not_on_how_many_there_are(count):
    assert torch.equal(weights(Heads(SHAPE, count, seed=7))[0], weights(Heads(SHAPE, 3, seed=7))[0])
    assert not torch.equal(weights(Heads(SHAPE, count, seed=8))[0], weights(Heads(SHAPE, 3, seed=7))[0])


@pytest.mark.parametrize("count", [1, 2])
def test_dropout_in_one_network_does_not_depend_on_the_others(count):
    whole = Heads(SHAPE, 3).train()(FEATURES, dropout_seeds(0, 3, "strong", 1))
    part = Heads(SHAPE, count).train()(FEATURES[:count], dropout_seeds(0, count, "strong", 1))
    assert torch.equal(part, whole[:count])


def test_each_network_drops_out_by_itself_and_anew_at_each_step():
    heads = Heads(SHAPE, 2).train()
    heads[1].load_state_dict(heads[0].state_dict())
    same = FEATURES[:1].expand(2, -1, -1)
    first, second = (heads(same, dropout_seeds(0, 2, "strong", step)) for step in (1, 2))
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(first[0], second[0])
    assert torch.equal(first, heads(same, dropout_seeds(0, 2, "strong", 1)))


def test_without_training_there_is_no_dropout_whatever_the_seeds():
    heads = Heads(SHAPE, 3).eval()
    assert torch.equal(heads(FEATURES, dropout_seeds(0, 3, "strong", 1)), heads(FEATURES))


def test_building_and_dropping_out_leave_the_callers_random_stream_alone():
    before = torch.get_rng_state()
    Heads(SHAPE, 3).train()(FEATURES, dropout_seeds(0, 3, "strong", 1))
    assert torch.equal(torch.get_rng_state(), before)


def test_normalising_centres_scales_to_unit_length_and_multiplies():
    """(4, 5) - (1, 1) = (3, 4), length 5, times 10: (6, 8)."""
    heads = Heads(HeadShape(2, 2, scale=10.0), 1)
    heads.center_on(torch.tensor([[[0.0, 2.0], [2.0, 0.0]]]))
    head = heads.each()[0]
    assert head.center.tolist() == [1.0, 1.0]
    torch.testing.assert_close(head.normalize(torch.tensor([[4.0, 5.0]])), torch.tensor([[6.0, 8.0]]))


def test_without_a_scale_features_are_taken_as_they_are():
    heads = Heads(PLAIN, 1)
    heads.center_on(torch.tensor([[[1.0, 1.0]]]))
    assert heads.each()[0].normalize(torch.tensor([[4.0, 5.0]])).tolist() == [[4.0, 5.0]]


def test_a_feature_at_the_centre_stays_finite():
    heads = Heads(HeadShape(2, 2, scale=10.0), 1).eval()
    assert heads(torch.zeros(1, 1, 2)).isfinite().all()


def test_prototypes_are_added_to_the_random_start():
    """Class 0: units (1, 0) and (0, 1), mean (0.5, 0.5), unit (0.707107, 0.707107). Class 1: (3, 4) -> (0.6, 0.8).
    Half of each is added.
    """
    heads = Heads(PLAIN, 1)
    before = weights(heads)[0]
    features = torch.tensor([[[2.0, 0.0], [0.0, 5.0], [3.0, 4.0]]])
    heads.start_at_prototypes(features, torch.tensor([0, 0, 1]), 0.5)
    added = torch.tensor([[0.353553, 0.353553], [0.3, 0.4]])
    torch.testing.assert_close(weights(heads)[0] - before, added)


def test_prototypes_classify_what_they_were_made_of():
    heads = Heads(HeadShape(8, 3, dropout=0.0, scale=20.0), 2).eval()
    corners = torch.eye(8)[:3].repeat(2, 4, 1)
    labels = torch.arange(3).repeat(4)
    heads.center_on(corners)
    heads.start_at_prototypes(corners, labels, 0.5)
    assert heads(corners).argmax(-1).tolist() == [labels.tolist()] * 2


@pytest.mark.parametrize(("kind", "layers"), [("linear", 1), ("mlp", 2)])
def test_both_kinds_of_head_give_logits(kind, layers):
    heads = Heads(HeadShape(8, 3, kind, scale=20.0), 3)
    assert heads(FEATURES).shape == (3, 20, 3)
    assert sum(isinstance(m, torch.nn.Linear) for m in heads.each()[0].modules()) == layers


def test_dropout_seeds_differ_by_network_step_and_purpose():
    seeds = {s for path in (("weak", 1), ("weak", 2), ("strong", 1)) for s in dropout_seeds(0, 3, *path)}
    assert len(seeds) == 9


def test_a_cosine_heads_logits_are_the_scaled_cosines_with_the_class_vectors():
    """(3, 4) with (2, 0) and (0, -7): cosines 0.6 and -0.8, times 10."""
    heads = Heads(HeadShape(2, 2, "cosine", dropout=0.0, cosine_scale=10.0), 1).eval()
    heads.each()[0].classify.weight.data = torch.tensor([[2.0, 0.0], [0.0, -7.0]])
    torch.testing.assert_close(heads(torch.tensor([[[3.0, 4.0]]])), torch.tensor([[[6.0, -8.0]]]))
    assert heads.each()[0].classify.bias is None


def test_cosine_heads_normalise_first_where_asked():
    """Centre (1, 1): (4, 5) lies at (3, 4) from it, whatever the scale of normalising."""
    heads = Heads(HeadShape(2, 2, "cosine", dropout=0.0, scale=5.0, cosine_scale=10.0), 1).eval()
    heads.each()[0].classify.weight.data = torch.eye(2)
    heads.each()[0].center.fill_(1.0)
    torch.testing.assert_close(heads(torch.tensor([[[4.0, 5.0]]])), torch.tensor([[[6.0, 8.0]]]))


def test_networks_may_have_different_heads_in_turn():
    heads = Heads(HeadShape(2, 2, kinds=("linear", "cosine")), 3)
    assert [type(head.classify).__name__ for head in heads.each()] == ["Linear", "Cosine", "Linear"]
    assert torch.equal(heads.each()[0].classify.weight, Heads(HeadShape(2, 2), 1).each()[0].classify.weight)


def test_class_words_start_the_cosine_heads_alone_without_what_words_have_in_common():
    """Words at (3, 1) and (1, 1): minus their mean (2, 1) they are (1, 0) and (-1, 0)."""
    heads = Heads(HeadShape(2, 2, kinds=("linear", "cosine")), 2)
    before = heads.each()[0].classify.weight.clone()
    heads.start_at_words(torch.tensor([[[3.0, 1.0], [1.0, 1.0]]]).expand(2, -1, -1))
    assert torch.equal(heads.each()[0].classify.weight, before)
    torch.testing.assert_close(heads.each()[1].classify.weight.data, torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))


def test_prototypes_start_every_head_but_one_with_a_hidden_layer():
    shape = HeadShape(8, 3, kinds=("linear", "cosine", "mlp"))
    heads, plain = Heads(shape, 3), Heads(shape, 3)
    heads.start_at_prototypes(FEATURES, torch.arange(20) % 3, 0.5)
    moved = [not torch.equal(a, b) for a, b in zip(weights(heads), weights(plain), strict=True)]
    assert moved == [True, True, False]
