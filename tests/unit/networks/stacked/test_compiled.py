"""The stack as one compiled graph, and without anything that waits for a device."""

import torch

from jointmatch.networks.stacked import Stacked, StackedEncoders
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
