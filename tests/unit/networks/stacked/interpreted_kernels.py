"""Kernels of our own: the same numbers as where what they do is written out.

Triton's interpreter runs them on a CPU, which it must be told before it is imported: ``test_fused.py`` has pytest run
this file in a process of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from jointmatch.networks.stacked import Stacked, StackedEncoders, encoders, fused, kernels
from jointmatch.networks.stacked.dropout import Dropout, scramble
from jointmatch.networks.stacked.kernels import attention
from jointmatch.networks.stacked.packing import pack, packing_of
from jointmatch.types import Mixing
from tests.unit.networks.stacked.berts import batch, even_bert
from tests.unit.networks.stacked.rerun import recorded

__all__ = ["kernels", "recorded"]  # kernels register themselves


@pytest.fixture(autouse=True)
def on_a_cpu(monkeypatch):
    monkeypatch.setattr(fused, "RUN_ON", {"cpu"})


def both_ways(layers: tuple[float, float] = (1.0, 1.0), **settings: Any) -> list[StackedEncoders]:
    """The same networks, with attention written out and fused."""
    modules = [even_bert(seed, **settings) for seed in range(2)]
    pair = [StackedEncoders(Stacked.from_modules(modules, [[share] for share in layers])).train() for _ in range(2)]
    pair[1].fused = True
    return pair


def test_they_are_tried_and_found_good():
    networks = StackedEncoders(Stacked.from_modules([even_bert(0), even_bert(1)]))
    networks.fuse(pytest.fail)
    assert networks.fused


def features_and_gradients(networks: StackedEncoders, *given: Any) -> list[Tensor]:
    networks.zero_grad()
    features = networks.features(*given)
    features.square().sum().backward()
    return [features.detach(), *(torch.clone(p.grad) for p in networks.parameters() if p.grad is not None)]


def check_same(one: list[Tensor], other: list[Tensor]) -> None:
    assert len(one) == len(other) > 20
    for own, theirs in zip(one, other, strict=True):
        torch.testing.assert_close(own, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("worth", [0.0, 1.0], ids=["padded", "packed"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layers", [(1.0, 1.0), (1.0, 0.5)])
def test_features_and_gradients_are_the_same(monkeypatch, worth, training, layers):
    monkeypatch.setattr("jointmatch.networks.stacked.packing.WORTH", worth)
    one, other = (networks.train(training) for networks in both_ways(layers))
    given = batch(3, 3, 9), [1, 2]
    check_same(features_and_gradients(one, *given), features_and_gradients(other, *given))


@pytest.mark.parametrize("settings", [{"attention_probs_dropout_prob": 0.5}, {"hidden_size": 64, "vocab_size": 50}])
def test_texts_longer_than_a_block_and_networks_that_read_texts_of_their_own(settings):
    """Of 70 tokens, where a program has 32 at once, as it is with numbers of this kind."""
    one, other = both_ways(**settings)
    given = [batch(1, 2, 70), batch(2, 2, 66)], [1, 2]
    check_same(features_and_gradients(one, *given), features_and_gradients(other, *given))


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("length", [40, 64, 100])
def test_in_short_numbers_they_are_as_near_as_these_are_to_each_other(width, length):
    """Texts that are one block of 64 tokens, and a longer one. In fp16: of bf16 the interpreter knows no products."""
    torch.manual_seed(length)
    heads, lengths = 2, [length, 3, length - 7]
    qkv = torch.randn(1, sum(lengths), 3 * heads * width).half()
    grad = torch.randn(1, sum(lengths), heads * width).half()
    starts = torch.tensor(lengths).cumsum(0) - torch.tensor(lengths)
    spans = torch.stack([starts, torch.tensor(lengths)])[None].to(torch.int32)
    given = qkv.clone().requires_grad_()
    out = kernels.attend(given, spans, spans, spans, heads, length, 0.0)[0]
    out.backward(grad)
    exact = qkv.double().requires_grad_()
    parts = [_attention(own, heads) for own in exact[0].split(lengths)]
    torch.cat(parts).backward(grad[0].double())
    assert given.grad is not None
    assert exact.grad is not None
    for found, wanted in ((out.detach()[0], torch.cat(parts).detach()), (given.grad, exact.grad)):
        assert (found.double() - wanted).norm() / wanted.norm() < 2e-3


def _attention(qkv: Tensor, heads: int) -> Tensor:
    """Of one text, (T, 3 D) -> (T, D), as it is written in books."""
    q, k, v = qkv.view(len(qkv), 3, heads, -1).permute(1, 2, 0, 3).unbind()
    shares = (q @ k.mT * q.shape[-1] ** -0.5).softmax(-1)
    return (shares @ v).transpose(0, 1).reshape(len(qkv), -1)


def test_nothing_comes_of_fillers():
    """Rows are filled up to multiples of 256 tokens on a GPU: what stands there must be a number."""
    *_, networks = both_ways()
    ids, *fields = (torch.from_numpy(array) for array in encoders.together([batch(0, 12, 60)], torch.device("cuda")))
    packing = encoders.packing_of(fields).spanned().expand(2)
    assert packing.real is not None
    assert not packing.real.all()
    layer = networks.stack.layers[0]
    out = layer(torch.randn(2, ids.shape[1], 32), packing, Dropout().layer(0))
    assert torch.isfinite(out).all()


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("length", [9, 40, 70])
def test_what_no_text_has_is_zero_whatever_was_in_memory(packed, length):
    """Networks have texts of different lengths, one of which is empty; memory is full of what is not a number."""
    lengths = [[length, 2, 0, 5], [1, 3, length - 1, 2]]
    fields = pack([np.array(own) for own in lengths], length + 3, 1 if packed else None)
    packing = packing_of([torch.from_numpy(array) for array in fields]).spanned()
    assert (packing.real is not None) is packed
    there = packing.mask.flatten(1) if packing.real is None else packing.real
    assert there.sum(1).tolist() == [sum(own) for own in lengths]
    qkv = torch.randn(2, there.shape[1], 96)
    sizes = packing.spans, packing.spans, packing.spans, 2, packing.mask.shape[-1], 0.0
    torch.use_deterministic_algorithms(True)  # which has torch fill new memory so
    try:
        assert torch.empty(3).isnan().all()
        out, logs = kernels.attend(qkv, *sizes)
        gradient = attention.attend_backward(torch.ones_like(out), qkv, out, logs, *sizes)
    finally:
        torch.use_deterministic_algorithms(False)
    for x in (out, gradient):
        assert torch.isfinite(x).all()
        assert (x[~there] == 0).all()
        assert (x[there] != 0).any()


@pytest.mark.parametrize("rows", [5, 300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_way_back_through_a_bias_and_a_gelu(rows, dtype):
    """Not as many rows or columns as programs take, networks that differ."""
    torch.manual_seed(rows)
    x, grad = torch.randn(2, 2, rows, 150, dtype=dtype)
    bias = torch.randn(2, 150, requires_grad=True)
    wanted = x.float().requires_grad_()
    torch.nn.functional.gelu(wanted + bias[:, None]).backward(grad.float())
    of_x, of_bias = kernels.activation_backward(grad, x, bias.detach())
    assert (of_x.dtype, of_bias.dtype) == (dtype, torch.float32)
    near = 1e-4 if dtype == torch.float32 else 3e-2
    torch.testing.assert_close(of_x.float(), wanted.grad, rtol=near, atol=near)
    torch.testing.assert_close(of_bias, bias.grad, rtol=3 * near, atol=3 * near)


@pytest.mark.parametrize("shape", [(3,), (2, 1025), (5, 1, 7)])
def test_numbers_are_scrambled_alike(shape):
    numbers = torch.randint(-(2**31), 2**31 - 1, shape, dtype=torch.int32)
    for given in (numbers, numbers.movedim(0, -1)):  # laid out in order, and not
        assert torch.equal(kernels.scramble(given), scramble(given))


def test_mixed_texts_are_read_as_before():
    one, other = both_ways()
    given = batch(0, 3, 9), [1, 2], Mixing(torch.tensor([[1, 0, 2]] * 2), 0.7)
    check_same(features_and_gradients(one, *given), features_and_gradients(other, *given))


def test_it_can_be_compiled_and_recorded(recorded):
    torch._dynamo.reset()
    one, other = both_ways()
    other.compile_layers(lambda text: pytest.fail(text), backend="aot_eager")
    for number in range(3):
        given = batch(number, 3, 9), [number, 2]
        check_same(features_and_gradients(one, *given), features_and_gradients(other, *given))
