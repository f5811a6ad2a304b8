"""The stack as one compiled graph, and without anything that waits for a device."""

import torch

from jointmatch.networks import dropout_seeds
from jointmatch.networks.stacked import Stacked, StackedEncoders
from jointmatch.networks.stacked.dropout import seed_words
from jointmatch.networks.stacked.encoders import together
from jointmatch.networks.stacked.packing import Packing
from tests.unit.networks.stacked.berts import batch, bert

CPU = torch.device("cpu")


def trained_stack(layers=(1.0, 0.5)):
    modules = [bert(i) for i in range(2)]
    return Stacked.from_modules(modules, [[share] for share in layers]).train()


def passed(forward, stack, tokens, seeds):
    stack.zero_grad()
    features = forward(*together([tokens]), seeds)
    features.square().sum().backward()
    return features.detach(), [p.grad.clone() for p in stack.parameters()]


def test_traced_into_one_graph_it_gives_the_same_features_and_gradients():
    """Traced forwards and backwards without a break, and not lowered: that would take a compiler and a minute."""
    stack, tokens, seeds = trained_stack(), batch(), seed_words(dropout_seeds(0, 2), CPU)
    torch._dynamo.reset()
    compiled = torch.compile(stack, fullgraph=True, backend="aot_eager", dynamic=False)
    features, gradients = passed(stack, stack, tokens, seeds)
    faster, faster_gradients = passed(compiled, stack, tokens, seeds)
    torch.testing.assert_close(faster, features, atol=1e-4, rtol=1e-4)
    for one, other in zip(faster_gradients, gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-3)


def test_nothing_in_a_pass_looks_at_a_value():
    """On the meta device there are none to look at: a pass that asked for one would fail."""
    stack = trained_stack().to("meta")
    ids, packing = together([batch(texts=3)])
    assert packing.spot is not None
    empty = [x.to("meta") for x in (packing.mask, packing.place, packing.real, packing.spot) if x is not None]
    out = stack(ids.to("meta"), Packing(*empty), torch.zeros(2, 2, dtype=torch.int32, device="meta"))
    assert out.shape == (2, 3, 16)
    assert out.device.type == "meta"


def test_a_batch_for_all_and_one_for_each_give_the_same():
    encoders = StackedEncoders(trained_stack()).eval()
    torch.testing.assert_close(encoders.features(batch()), encoders.features([batch(), batch()]))
