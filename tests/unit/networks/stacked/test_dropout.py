"""Dropout as a function of seeds: how often, how independent, and what it does not depend on."""

import pytest
import torch

from jointmatch.networks import Tokens, dropout_seeds
from jointmatch.networks.stacked import Stacked, StackedEncoders
from jointmatch.networks.stacked.dropout import Mask, Masks, drop_in_pass, pick, seed_words
from jointmatch.networks.stacked.packing import packing_of
from tests.unit.networks.stacked.berts import batch, bert

CPU = torch.device("cpu")


def masks(*seeds: int, shape: tuple[int, ...] = (3, 4, 5), rate: float = 0.5, kind: int = 0) -> Masks:
    """Of ``shape`` (B, ..., D) for each seed, at three places."""
    axes = [torch.arange(size) for size in shape[:-1]]
    rows = [axis.view(1, *[-1 if i == j else 1 for j in range(len(axes))]) for i, axis in enumerate(axes)]
    return Masks(torch.from_numpy(seed_words(seeds)), kind, 3, rows, shape[-1], rate)


def encoders(*seeds: int, dropout: float = 0.3, layers: int = 2, cutoff: float = 0.0) -> StackedEncoders:
    shape = {1: "flat", 2: "usual", 5: "deep"}[layers]
    modules = [bert(seed, shape, dropout=dropout) for seed in seeds]
    return StackedEncoders(Stacked.from_modules(modules, cutoff=cutoff)).train()


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_a_share_of_all_numbers_is_dropped_and_the_mean_is_kept(rate):
    """With 400,000 numbers the share's deviation is at most 0.0008; five of them are allowed for."""
    x = torch.ones(2, 40, 50, 100)
    kept = masks(3, 4, shape=(40, 50, 100), rate=rate).at(1).drop(x)
    assert (kept == 0).float().mean().item() == pytest.approx(rate, abs=0.004)
    assert kept.unique().tolist() == pytest.approx([0.0, 1 / (1 - rate)])
    for axis in range(4):
        others = [i for i in range(4) if i != axis]
        spread = (kept == 0).float().mean(others).std().item()
        expected = (rate * (1 - rate) / (x.numel() / x.shape[axis])) ** 0.5
        assert spread < 4 * expected, f"uneven along axis {axis}"


def test_bits_are_even_and_those_of_neighbours_independent():
    """A correlation over 250,000 pairs strays by 0.002; five times that would be a pattern."""
    bits = masks(1, shape=(20, 25, 500)).at(0).bits().float() / 2**31
    assert bits.mean().abs() < 0.005
    assert bits.var().item() == pytest.approx(1 / 3, abs=0.003)
    for axis in (1, 2, 3):
        size = bits.shape[axis]
        pairs = torch.stack([bits.narrow(axis, 0, size - 1).flatten(), bits.narrow(axis, 1, size - 1).flatten()])
        assert torch.corrcoef(pairs)[0, 1].abs() < 0.01


def test_rows_and_columns_do_not_act_together():
    """Of four corners of a rectangle each is dropped for itself: all four at 0.5 in one of 16 cases."""
    hit = masks(5, shape=(1, 1000, 1000)).at(0).hit()[0, 0]
    corners = hit[:500, :500] & hit[500:, :500] & hit[:500, 500:] & hit[500:, 500:]
    assert corners.float().mean().item() == pytest.approx(1 / 16, abs=0.003)
    odd = hit[:500, :500] ^ hit[500:, :500] ^ hit[:500, 500:] ^ hit[500:, 500:]
    assert odd.float().mean().item() == pytest.approx(1 / 2, abs=0.005)


@pytest.mark.parametrize(("seed", "kind", "place"), [(8, 0, 1), (7, 1, 1), (7, 0, 2)])
def test_another_seed_kind_or_place_is_another_mask(seed, kind, place):
    one = masks(7, shape=(9, 9, 40)).at(1).hit()
    other = masks(seed, shape=(9, 9, 40), kind=kind).at(place).hit()
    assert (one == other).float().mean().item() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("high", [0, 1, 2**31 - 1])
def test_all_of_a_seeds_bits_count(high):
    seed = high << 32 | 5
    same = [masks(seed ^ 1 << bit).at(0).bits().flatten() for bit in range(63)]
    assert len(torch.stack(same).unique(dim=0)) == 63


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_nothing_is_dropped_at_rate_0_and_everything_at_rate_1(rate):
    x = torch.randn(1, 3, 4, 5)
    assert torch.equal(masks(0, rate=rate).at(0).drop(x), x * (1 - rate))


def test_a_mask_of_a_larger_shape_begins_with_that_of_a_smaller_one():
    small, large = (masks(1, shape=shape).at(0).bits() for shape in ((2, 3, 4), (5, 6, 7)))
    assert torch.equal(small, large[:, :2, :3, :4])


def test_pick_takes_entries_by_position_and_all_without_a_copy():
    x = torch.arange(3)
    assert pick(x, [2, 0]).tolist() == [2, 0]
    assert pick(x, [0, 1, 2]) is x
    assert pick(x[None], [1], axis=1).tolist() == [[1]]


@torch.no_grad()
def test_the_same_seeds_give_the_same_features_and_others_give_others():
    networks = encoders(0, 1)
    seeds, others = dropout_seeds(0, 2, "strong", 3), dropout_seeds(0, 2, "strong", 4)
    first = networks.features(batch(), seeds)
    assert torch.equal(networks.features(batch(), seeds), first)
    assert not torch.isclose(networks.features(batch(), others), first).any(dim=-1).all()


@torch.no_grad()
def test_two_networks_of_the_same_weights_drop_differently():
    features = encoders(0, 0).features(batch(), dropout_seeds(0, 2))
    assert not torch.allclose(features[0], features[1])


@pytest.mark.parametrize("layers", [1, 5])
@torch.no_grad()
def test_what_a_network_drops_does_not_depend_on_the_others(layers):
    seeds = dropout_seeds(0, 3)
    together = encoders(0, 1, 2, layers=layers).features(batch(), seeds)
    for i in range(3):
        torch.testing.assert_close(encoders(i, layers=layers).features(batch(), [seeds[i]])[0], together[i])


@torch.no_grad()
def test_what_a_network_drops_does_not_depend_on_padding_or_on_the_texts_behind():
    networks, seeds = encoders(0, 1), dropout_seeds(0, 2)
    short = batch(length=6)
    wanted = networks.features(short, seeds)
    room = torch.zeros(4, 5, dtype=torch.long)
    padded = Tokens(torch.cat([short.ids, room], 1), torch.cat([short.mask, room.bool()], 1))
    torch.testing.assert_close(networks.features(padded, seeds), wanted)
    fewer = Tokens(short.ids[:2], short.mask[:2])
    torch.testing.assert_close(networks.features(fewer, seeds), wanted[:, :2])


@torch.no_grad()
def test_the_callers_random_stream_is_left_alone_with_seeds_and_used_without():
    networks = encoders(0, 1)
    before = torch.get_rng_state()
    networks.features(batch(), dropout_seeds(0, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.equal(networks.features(batch()), networks.features(batch()))
    torch.manual_seed(0)
    first = networks.features(batch())
    torch.manual_seed(0)
    assert torch.equal(networks.features(batch()), first)


@torch.no_grad()
def test_without_dropout_training_and_evaluation_agree():
    networks = encoders(0, 1, dropout=0.0)
    trained = networks.features(batch(), [1, 2])
    torch.testing.assert_close(trained, networks.eval().features(batch()))


@torch.no_grad()
def test_attention_written_out_is_the_fused_one():
    """A rate this small drops nothing, and the written out product is used."""
    networks = encoders(0, 1, dropout=1e-12)
    torch.testing.assert_close(networks.features(batch(), [1, 2]), networks.eval().features(batch()))


@torch.no_grad()
def test_the_mean_over_many_masks_is_near_what_is_without():
    """Dropout is unbiased in what is linear; the layers are not, but not far from it at a small rate."""
    networks = encoders(0, dropout=0.02)
    many = torch.stack([networks.features(batch(), [seed])[0] for seed in range(100)])
    exact = networks.eval().features(batch())[0]
    assert (many.mean(0) - exact).abs().mean() < 0.1 * exact.abs().mean()
    assert (many[0] - exact).abs().mean() > 2 * (many.mean(0) - exact).abs().mean()


@torch.no_grad()
def test_every_place_drops_once_and_by_a_mask_of_its_own(monkeypatch):
    """Two layers: five places of hidden states (n, M, D) and two of attention's shares (n, B, H, T, T)."""
    seen = []
    original = Mask.drop

    def spy(self, x):
        seen.append((x.ndim, tuple(self.columns.flatten().tolist())))
        return original(self, x)

    monkeypatch.setattr(Mask, "drop", spy)
    encoders(0, 1).features(batch(), [1, 2])
    assert [ndim for ndim, _ in seen] == [3, 5, 3, 3, 5, 3, 3]
    assert len(set(seen)) == 7


@torch.no_grad()
def test_words_are_cut_while_training_and_in_all_tokens_of_a_text():
    networks = encoders(0, 1, dropout=0.0, cutoff=0.5)
    cut = networks.features(batch(), [1, 2])
    assert not torch.allclose(cut, networks.eval().features(batch()))
    tokens = torch.tensor([[3, 3, 3], [4, 4, 4]])
    embeddings = networks.stack.embeddings
    with torch.no_grad():
        embeddings.positions.zero_()
    packing = packing_of([torch.ones(1, 2, 3, dtype=torch.bool)])
    dropout = drop_in_pass(torch.from_numpy(seed_words([1, 2])), networks.stack.shape, packing, 0.5)
    words = embeddings(tokens.view(1, 6), packing, dropout).view(2, 2, 3, -1)
    assert torch.equal(words, words[:, :, :1].expand_as(words))
