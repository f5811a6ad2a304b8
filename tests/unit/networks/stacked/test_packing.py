"""Tokens without their padding: where they go, the way back, and that nothing flows through padding or fillers."""

from functools import partial

import numpy as np
import pytest
import torch

from jointmatch.networks import Tokens
from jointmatch.networks.stacked import Stacked, StackedEncoders, encoders
from jointmatch.networks.stacked.encoders import together
from jointmatch.networks.stacked.packing import Packing, pack, packing_of
from jointmatch.types import Mixing
from tests.unit.networks.stacked.berts import batch, bert

CPU = torch.device("cpu")


def two() -> list[np.ndarray]:
    """Two networks, three texts of up to four tokens."""
    return [np.array([2, 1, 4]), np.array([1, 1, 1])]


def packed(lengths: list[np.ndarray], width: int, grain: int | None) -> Packing:
    return packing_of([torch.from_numpy(field) for field in pack(lengths, width, grain)])


def test_tokens_stand_one_after_another_and_rows_are_filled_up():
    """7 tokens of the first network, at 0 1 | 4 | 8 9 10 11; 3 of the second, at 0 | 4 | 8; filled up to 8."""
    packing = packed(two(), 4, grain=8)
    assert packing.place.tolist() == [[0, 1, 4, 8, 9, 10, 11, 0], [0, 4, 8, 0, 0, 0, 0, 0]]
    assert packing.real is not None
    assert packing.real.sum(1).tolist() == [7, 3]
    assert packing.text.tolist()[0][:7] == [0, 0, 1, 2, 2, 2, 2]
    assert packing.position.tolist()[0][:7] == [0, 1, 0, 0, 1, 2, 3]
    assert packing.spot is not None
    assert packing.spot.tolist()[0] == [[0, 1, 0, 0], [2, 0, 0, 0], [3, 4, 5, 6]]


def test_what_is_laid_out_and_gathered_again_is_the_same():
    packing = packed(two(), 4, grain=8)
    x = torch.randn(2, 8, 5)
    laid = packing.lay_out(x)
    assert laid.shape == (2, 3, 4, 5)
    assert torch.equal(laid[0, 2], x[0, 3:7])
    assert torch.equal(laid[1, :, 0], x[1, :3])
    back = packing.gather(laid)
    assert packing.real is not None
    assert torch.equal(back[packing.real], x[packing.real])


@pytest.mark.parametrize("way", ["lay_out", "gather"])
def test_gradients_go_the_way_back_and_none_to_padding_or_fillers(way):
    """As if by indexing, where autograd adds up what several places took from one: but these take once."""
    packing = packed(two(), 4, grain=8)
    assert packing.real is not None
    counts = packing.real if way == "lay_out" else packing.mask
    x = torch.randn(*counts.shape, 5, dtype=torch.float64, requires_grad=True)
    taken = packing.lay_out(x) if way == "lay_out" else packing.gather(x)
    reached = packing.mask if way == "lay_out" else packing.real
    weights = torch.randn_like(taken) * reached[..., None]  # what follows never looks at padding and fillers
    (taken * weights).sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad[counts], weights[reached])
    assert not x.grad[~counts].any()


@pytest.mark.parametrize(("lengths", "grain"), [([4, 4, 3], 1), ([2, 1, 4], None), ([2, 2, 2], 12)])
def test_where_little_would_be_gained_the_padding_stays(lengths, grain):
    packing = packed([np.array(lengths)], 4, grain)
    assert packing.spot is None
    assert packing.place.tolist() == [list(range(12))]
    x = torch.randn(1, 12, 5)
    assert torch.equal(packing.gather(packing.lay_out(x)), x)
    assert torch.equal(packing.mask, torch.arange(4) < torch.tensor(lengths)[None, :, None])


def test_some_of_the_networks_keep_their_own():
    packing = packed(two(), 4, grain=8)
    some = packing.of([1])
    assert some.place.tolist() == packing.place[1:].tolist()
    shared = packed(two()[:1], 4, grain=8).expand(3)
    assert shared.mask.shape == (3, 3, 4)
    assert packing_of([torch.ones(1, 2, 3, dtype=torch.bool)]).expand(2).place.shape == (2, 6)


@pytest.mark.parametrize("layers", [(1.0, 1.0), (1.0, 0.4)])
@pytest.mark.parametrize("each", [True, False])
def test_features_and_gradients_are_those_with_padding(layers, each, monkeypatch):
    """In training mode, with dropout: what is dropped depends on text and position, not on where a token stands."""
    networks = StackedEncoders(Stacked.from_modules([bert(i, "deep") for i in range(2)], [[s] for s in layers])).train()
    tokens = [batch(i, texts=5, length=12) for i in range(2)] if each else batch(3, texts=5, length=12)
    found = []
    for dense in (True, False):
        monkeypatch.setattr("jointmatch.networks.stacked.packing.WORTH", 1.0 if dense else 0.0)
        assert (len(together(tokens if isinstance(tokens, list) else [tokens], CPU)) > 2) is dense
        networks.zero_grad()
        features = networks.features(tokens, [1, 2])
        features.square().sum().backward()
        found.append([features.detach(), *(torch.clone(p.grad) for p in networks.parameters() if p.grad is not None)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("length", [5, 16, 17, 23, 24])
@pytest.mark.parametrize("mixed", [False, True])
def test_texts_laid_out_as_on_a_gpu_stay_within_the_positions_that_there_are(length, mixed, monkeypatch):
    """24 of them: the next multiple of 16 is 32."""
    networks = StackedEncoders(Stacked.from_modules([bert(i) for i in range(2)], [[1.0]] * 2)).train()
    mask = torch.ones(3, length, dtype=torch.bool)
    tokens = Tokens(torch.arange(1, 3 * length + 1).view(3, length) % 37, mask, np.full(3, length))
    mixing = Mixing(torch.tensor([[1, 0, 2]] * 2), 0.7) if mixed else None
    found = []
    for kind in ("cpu", "cuda"):
        monkeypatch.setattr(encoders, "together", partial(_as_on, torch.device(kind)))
        networks.zero_grad()
        features = networks.features(tokens, [1, 2], mixing)
        features.square().sum().backward()
        found.append([features.detach(), *(torch.clone(p.grad) for p in networks.parameters() if p.grad is not None)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    width = together([tokens], torch.device("cuda"), not mixed, 24)[1].shape[-1]
    assert width == {5: 16, 16: 16}.get(length, 24)


def test_wide_batches_come_in_fewer_widths_where_attention_skips_the_padding():
    cuda = torch.device("cuda")

    def width(length: int, *rest: int) -> int:
        return together([batch(0, 3, length)], cuda, True, *rest)[1].shape[-1]

    assert [width(n, 512, 64) for n in (5, 33, 64, 65, 130)] == [16, 48, 64, 128, 192]
    assert [width(n, 512) for n in (5, 33, 64, 65, 130)] == [16, 48, 64, 80, 144]
    assert width(65, 100, 64) == 100


def test_on_a_cpu_batches_come_in_few_sizes_too():
    """Three texts of 5, 9 and 33 tokens at most: 8, 16 and 40 positions; 97 tokens are filled up to 112, 300 to 320."""
    assert [together([batch(0, 3, length)], CPU)[1].shape[-1] for length in (5, 9, 33)] == [8, 16, 40]

    def tokens(*lengths: int) -> int:
        mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        return together([Tokens(mask.long(), mask, np.array(lengths))], CPU)[0].shape[-1]

    assert tokens(64, 16, 17) == 112
    assert tokens(100, 100, 50, 50) == 320


def _as_on(device, batches, _, *rest):
    return together(batches, device, *rest)


def test_a_batch_that_several_networks_read_is_laid_out_once_and_given_to_each():
    one, other = (batch(i, texts=5, length=12) for i in range(2))
    wanted = together([one, batch(0, texts=5, length=12), other], CPU)
    found = together([one, one, other], CPU)
    for own, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(own, theirs)


def test_lengths_are_known_without_looking_at_the_mask_where_the_tokenizer_told():
    ids = torch.zeros(2, 3, dtype=torch.long)
    mask = torch.tensor([[True, True, False], [True, False, False]])
    assert Tokens(ids, mask).lengths.tolist() == [2, 1]
    assert Tokens(ids, mask, np.array([3, 3])).lengths.tolist() == [3, 3]
