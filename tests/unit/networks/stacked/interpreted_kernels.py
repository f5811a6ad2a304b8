"""Attention by kernels of our own: the same numbers as where it is written out.

Triton's interpreter runs them on a CPU, which it must be told before it is imported: ``test_fused.py`` has pytest run
this file in a process of its own.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from jointmatch.networks.stacked import Stacked, StackedEncoders, encoders, fused, kernels
from jointmatch.networks.stacked.dropout import Dropout
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
    networks.fuse_attention(pytest.fail)
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
    """Of 70 tokens, where a program has 64 at once."""
    one, other = both_ways(**settings)
    given = [batch(1, 2, 70), batch(2, 2, 66)], [1, 2]
    check_same(features_and_gradients(one, *given), features_and_gradients(other, *given))


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
