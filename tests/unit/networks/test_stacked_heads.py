"""Heads of many networks as one product: what each of them gives by itself, in memory that is theirs too."""

import pytest
import torch

from jointmatch.networks import Heads, HeadShape, dropout_seeds, join_heads
from jointmatch.networks.noise import Rates, drawn_noise, hashed_noise
from jointmatch.networks.stacked.dropout import seed_words
from jointmatch.types import Mixing, Mixings

WIDTH, CLASSES = 8, 3
SHAPES = {
    "linear": HeadShape(WIDTH, CLASSES, dropout=0.4),
    "normalised": HeadShape(WIDTH, CLASSES, dropout=0.4, scale=20.0),
    "cut": HeadShape(WIDTH, CLASSES, dropout=0.4, cutoff=0.3),
    "cut alone": HeadShape(WIDTH, CLASSES, dropout=0.0, cutoff=0.3),
    "mlp": HeadShape(WIDTH, CLASSES, "mlp", dropout=0.4),
    "cosine": HeadShape(WIDTH, CLASSES, "cosine", dropout=0.4, scale=5.0),
    "extra": HeadShape(WIDTH, CLASSES, dropout=0.4, extra=1),
    "still": HeadShape(WIDTH, CLASSES, dropout=0.0),
    "in turn": HeadShape(WIDTH, CLASSES, dropout=0.4, cutoff=0.2, kinds=("linear", "cosine", "mlp")),
}
EVERY = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())


def features(rows, seed=0, networks=3):
    return torch.randn(networks, rows, WIDTH, generator=torch.Generator().manual_seed(seed))


def words(seeds):
    return torch.from_numpy(seed_words(seeds))


def two_runs(shape):
    runs = [Heads(shape, 3, seed).train() for seed in (0, 1)]
    for seed, own in enumerate(runs):
        own.center_on(features(20, 10 + seed))
    return runs


@EVERY
@pytest.mark.parametrize("training", [True, False])
def test_each_run_gets_what_its_own_heads_give_though_the_other_has_more_texts(shape, training):
    runs = [own.train(training) for own in two_runs(shape)]
    given = [features(5, 1), features(7, 2)]
    seeds = [dropout_seeds(seed, 3, "strong", 1) for seed in (0, 1)]
    wanted = [own(x, s) for own, x, s in zip(runs, given, seeds, strict=True)]
    joined = join_heads(runs)
    found = joined.module.train(training)([*given[0], *given[1]], [*seeds[0], *seeds[1]])
    torch.testing.assert_close(found[:3, :5], wanted[0])
    torch.testing.assert_close(found[3:], wanted[1])


@EVERY
def test_the_same_holds_where_dropout_is_a_hash(shape):
    runs = two_runs(shape)
    given = [features(7, 1), features(7, 2)]
    seeds = [dropout_seeds(seed, 3, "strong", 1) for seed in (0, 1)]
    wanted = [own(x[:, :rows], words(s)) for own, x, s, rows in zip(runs, given, seeds, (5, 7), strict=True)]
    found = join_heads(runs).module.train()(torch.cat(given), words([*seeds[0], *seeds[1]]))
    torch.testing.assert_close(found[:3, :5], wanted[0])
    torch.testing.assert_close(found[3:], wanted[1])


@EVERY
def test_texts_are_mixed_by_every_network_in_its_own_way(shape):
    runs = [own.eval() for own in two_runs(shape)]
    partners = torch.stack([torch.randperm(6, generator=torch.Generator().manual_seed(i)) for i in range(6)])
    how = [Mixing(partners[:3], 0.7), Mixing(partners[3:], 0.9)]
    given = [features(6, 1), features(6, 2)]
    wanted = torch.cat([own(x, None, mixing) for own, x, mixing in zip(runs, given, how, strict=True)])
    each = Mixings([mixing.of(i) for mixing in how for i in range(3)])
    torch.testing.assert_close(join_heads(runs).module.eval()(torch.cat(given), None, each), wanted)


@EVERY
def test_gradients_arrive_at_every_runs_own_heads_and_add_up(shape):
    runs, apart = two_runs(shape), two_runs(shape)
    given = [features(6, 1), features(6, 2)]
    joined = join_heads(runs)
    for _ in range(2):
        (joined.module.eval()(torch.cat(given)).square().sum() / 100).backward()
        for own in joined.shares:
            for share in own:
                share.take_gradient()
        joined.module.zero_grad()
        for heads, x in zip(apart, given, strict=True):
            (heads.eval()(x).square().sum() / 100).backward()
    for own_heads, wanted in zip(runs, apart, strict=True):
        for found, alone in zip(own_heads.parameters(), wanted.parameters(), strict=True):
            assert found.grad is not None
            assert alone.grad is not None
            torch.testing.assert_close(found.grad, alone.grad, atol=1e-5, rtol=1e-4)


def test_what_a_run_changes_the_joint_heads_see_until_they_part():
    runs = two_runs(SHAPES["normalised"])
    x = torch.cat([features(6, 1), features(6, 2)])
    joined = join_heads(runs)
    before = joined.module.eval()(x)
    with torch.no_grad():
        for parameter in runs[1].parameters():
            parameter.add_(1.0)
    runs[1].load_state_dict({name: value + 1 for name, value in runs[1].state_dict().items()})
    after = joined.module(x)
    assert torch.equal(after[:3], before[:3])
    torch.testing.assert_close(after[3:], runs[1].eval()(x[3:]))
    for share in joined.shares[1]:
        share.untie()
    runs[1].load_state_dict({name: value * 0 for name, value in runs[1].state_dict().items()})
    assert torch.equal(joined.module(x), after)


def test_a_share_of_everything_is_dropped_where_the_rate_says_so():
    noise = hashed_noise(Rates(1.0), (4, 5), words([1, 2]))
    assert noise.features is not None
    assert not noise.features.any()


@pytest.mark.parametrize(("dropout", "cutoff"), [(0.25, 0.0), (0.0, 0.25), (0.25, 0.5)])
def test_hashed_noise_keeps_the_mean_but_for_what_is_cut_and_each_head_has_its_own(dropout, cutoff):
    """What is kept is scaled by 1 / (1 - dropout); of what is cut nothing makes up for it: 1 - cutoff is left."""
    noise = hashed_noise(Rates(dropout, cutoff), (300, 200), words([1, 2]))
    assert noise.features is not None
    assert noise.features.mean().item() == pytest.approx(1 - cutoff, abs=0.02)
    assert not torch.equal(noise.features[0], noise.features[1])
    if dropout:
        assert noise.hidden is not None
        assert noise.hidden.mean().item() == pytest.approx(1.0, abs=0.02)
        assert not torch.equal(noise.features[0] > 0, noise.hidden[0] > 0)


def test_drawing_leaves_the_callers_random_stream_alone():
    before = torch.get_rng_state()
    drawn_noise(Rates(0.5, 0.5), (4, 5), 7, torch.device("cpu"), hidden=True)
    assert torch.equal(torch.get_rng_state(), before)
