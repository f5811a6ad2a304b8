"""Stacked, compiled, replayed, with kernels of our own: all of it at once against ``transformers``' own modules.

On a GPU this is what its users run; elsewhere a stand-in replays, and what only a GPU has is left out.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BertModel

from jointmatch.networks import Encoder, Tokens, dropout_seeds
from jointmatch.networks.stacked import Stacked, StackedEncoders
from tests.unit.networks.stacked.berts import batch, even_bert
from tests.unit.networks.stacked.rerun import recorded

__all__ = ["recorded"]

ON_A_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="the whole engine needs a GPU")
SHAPES: dict[str, dict[str, int]] = {
    "heads of 32": {"hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 200},
    "heads of 64": {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512},
}
PLACES = [
    pytest.param("cpu", "heads of 32"),
    *(pytest.param("cuda", shape, marks=ON_A_GPU) for shape in SHAPES),
]
NEAR = {torch.float32: 2e-4, torch.bfloat16: 3e-2}
PASSES = 4  # the third is the first that is replayed
Found = tuple[Tensor, dict[str, Tensor]]


@pytest.fixture
def device(kind, request) -> torch.device:
    if kind == "cpu":
        request.getfixturevalue("recorded")
    return torch.device(kind)


@pytest.fixture(params=[torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def dtype(request) -> torch.dtype:
    return request.param


def cast(device: torch.device, dtype: torch.dtype) -> AbstractContextManager[Any]:
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32, cache_enabled=False)


def engine(modules: list[BertModel], device: torch.device, quick: bool) -> StackedEncoders:
    """Copies of the modules in a stack, in training mode."""
    networks = StackedEncoders(Stacked.from_modules(modules, [[1.0], [0.5]])).to(device).train()
    if quick:
        torch._dynamo.reset()
        networks.compile_layers(pytest.fail, **({} if device.type == "cuda" else {"backend": "aot_eager"}))
        networks.fuse(pytest.fail if device.type == "cuda" else lambda text: None)
    else:
        networks.replay = None
    return networks


def learnt(networks: StackedEncoders, tokens: Tokens, number: int) -> Found:
    """Features, and the gradients by the names and in the shapes of the networks' own modules."""
    networks.zero_grad()
    features = networks.features(tokens, dropout_seeds(0, 2, number))
    (features.float().tanh() ** 2).sum().backward()
    found: dict[str, Tensor] = {}
    for network in range(2):
        for name, networks_there, theirs in networks.stack._sources():
            grad = networks.stack.get_parameter(name).grad
            if network in networks_there and grad is not None:
                place = 0 if len(grad) == 1 else networks_there.index(network)
                parts = zip(theirs, grad[place].chunk(len(theirs)), strict=True)
                found |= {f"{network}.{their}": part.clone() for their, part in parts}
    return features.detach().float(), found


def learnt_apart(modules: list[BertModel], tokens: Tokens, device: torch.device) -> Found:
    found: dict[str, Tensor] = {}
    features = []
    for network, (module, layer) in enumerate(zip(modules, (1.0, 0.5), strict=True)):
        own: Any = module.to(device.type)  # type: ignore[arg-type]
        own.train().zero_grad()
        ids = Tokens(tokens.ids.to(device), tokens.mask.to(device), tokens.lengths)
        out = Encoder(own, [layer], "mean")(ids)
        (out.float().tanh() ** 2).sum().backward()
        features.append(out.detach().float())
        found |= {f"{network}.{name}": p.grad for name, p in own.named_parameters() if p.grad is not None}
    return torch.cat(features), found


def assert_near(one: Found, other: Found, near: float) -> None:
    """By each tensor's own size: of a sum over many tokens the last digits depend on the order."""
    assert one[1].keys() == other[1].keys()
    # A key's bias moves all scores of a text alike, which changes nothing: its gradient is made of rounding alone.
    telling = [name for name in other[1] if not name.endswith("key.bias")]
    for name, own, theirs in [("features", one[0], other[0]), *((n, one[1][n], other[1][n]) for n in telling)]:
        apart, size = (own.float() - theirs.float()).norm(), theirs.float().norm()
        assert apart <= near * size + 1e-6, f"{name}: {float(apart):.3g} away, of {float(size):.3g}"


def texts(number: int) -> Tokens:
    """Of one shape, other words and lengths each time."""
    return batch(number, texts=6, length=20)


@pytest.mark.parametrize(("kind", "shape"), PLACES)
def test_it_gives_what_separate_modules_give(device, dtype, shape):
    settings: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, **SHAPES[shape]}
    modules = [even_bert(i, **settings) for i in range(2)]
    networks = engine(modules, device, quick=True)
    for number in range(PASSES):
        with cast(device, dtype):
            found, wanted = learnt(networks, texts(number), number), learnt_apart(modules, texts(number), device)
        assert_near(found, wanted, NEAR[dtype])


@pytest.mark.parametrize(("kind", "shape"), PLACES)
def test_with_dropout_it_gives_what_is_written_out_gives(device, dtype, shape):
    modules = [even_bert(i, **SHAPES[shape]) for i in range(2)]
    quick, plain = engine(modules, device, quick=True), engine(modules, device, quick=False)
    for number in range(PASSES):
        with cast(device, dtype):
            found, wanted = (learnt(networks, texts(number), number) for networks in (quick, plain))
        assert_near(found, wanted, NEAR[dtype])
    with torch.no_grad(), cast(device, dtype):
        one, other = (networks.eval().features(texts(0)) for networks in (quick, plain))
    assert_near((one.float(), {}), (other.float(), {}), NEAR[dtype])
