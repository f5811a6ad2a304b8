"""The stack compiled and copied, and without anything that waits for a device."""

import copy

import numpy as np
import pytest
import torch
from torch._dynamo.utils import counters

from jointmatch.networks import Tokens
from jointmatch.networks.stacked import Stacked, StackedEncoders, compiled, encoders, why_not_compiled
from jointmatch.networks.stacked.encoders import together
from jointmatch.networks.stacked.packing import packing_of
from tests.unit.networks.stacked.berts import batch, bert
from tests.unit.networks.stacked.rerun import assert_same, passed, recorded, stacked

__all__ = ["recorded"]

CPU = torch.device("cpu")


def trained_stack(layers=(1.0, 0.5)):
    modules = [bert(i) for i in range(2)]
    return Stacked.from_modules(modules, [[share] for share in layers]).train()


def test_nothing_in_a_pass_looks_at_a_value():
    """On the meta device there are none to look at: a pass that asked for one would fail."""
    stack = trained_stack().to("meta")
    ids, *fields = (torch.from_numpy(array).to("meta") for array in together([batch(texts=3)], CPU))
    assert len(fields) == 4
    out = stack(ids, packing_of(fields), torch.zeros(2, 2, dtype=torch.int32, device="meta"))
    assert out.shape == (2, 3, 16)
    assert out.device.type == "meta"


def test_a_batch_for_all_and_one_for_each_give_the_same():
    networks = StackedEncoders(trained_stack()).eval()
    torch.testing.assert_close(networks.features(batch()), networks.features([batch(), batch()]))


@pytest.mark.parametrize("autocast", [True, False])
def test_a_compiled_layer_serves_all_layers(recorded, autocast):
    """Traced forwards and backwards without a break, and not lowered: that would take a compiler and a minute."""
    torch._dynamo.reset()
    counters.clear()
    quick, plain = stacked(), stacked(replayed=False)
    quick.compile_layers(backend="aot_eager")
    for number in range(3):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast, cache_enabled=False):
            one, other = (passed(networks, number, batch(texts=4)) for networks in (quick, plain))
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)
    assert counters["stats"]["unique_graphs"] <= 2  # of two networks, and where the second has been read, of one


def test_texts_without_padding_are_compiled_once_for_any_number_of_tokens():
    torch._dynamo.reset()
    counters.clear()
    quick, plain = (stacked(replayed=False, layers=(1.0, 1.0)) for _ in range(2))
    quick.compile_layers(backend="aot_eager")
    for number, lengths in enumerate(([3, 9, 2, 5], [9, 1, 1, 4], [2, 9, 7, 2])):
        sizes = np.array(lengths)
        mask = torch.arange(9) < torch.from_numpy(sizes)[:, None]
        tokens = Tokens(torch.arange(5, 41).view(4, 9), mask, sizes)
        torch.testing.assert_close(*(passed(networks, number, tokens) for networks in (quick, plain)))
    assert counters["stats"]["unique_graphs"] == 1


@pytest.fixture
def told(monkeypatch, recorded):
    """What is said by encoders whose compiler fails as the test says."""
    said: list[str] = []

    def make(error: Exception) -> StackedEncoders:
        def fails(*args):
            raise error

        monkeypatch.setattr(torch, "compile", lambda function, **options: fails)
        monkeypatch.setattr(compiled, "_COMPILED", {})
        networks = stacked()
        networks.compile_layers(said.append)
        return networks

    return said, make


def test_where_compiling_fails_the_layer_itself_is_run_and_it_is_said_once(told):
    said, make = told
    networks, plain = make(RuntimeError("Failed to find C compiler.\nPlease specify one")), stacked(replayed=False)
    for number in range(3):
        assert_same(passed(networks, number, batch(texts=4)), passed(plain, number, batch(texts=4)))
    assert said == [
        "Layers are not compiled (RuntimeError: Failed to find C compiler.): slower, with the same results."
    ]


def test_where_only_the_backward_pass_fails_to_compile_the_layer_itself_is_run(monkeypatch):
    """Torch compiles it when it is asked for, which is too late to take another way."""
    from torch._dynamo.backends.common import aot_autograd

    def fails(graph, inputs):
        raise RuntimeError("ptxas is not here")

    torch._dynamo.reset()
    monkeypatch.setattr(compiled, "_COMPILED", {})
    said: list[str] = []
    networks, plain = stacked(replayed=False), stacked(replayed=False)
    networks.compile_layers(
        said.append, backend=aot_autograd(fw_compiler=lambda graph, inputs: graph, bw_compiler=fails)
    )
    for number in range(2):
        assert_same(passed(networks, number, batch(texts=4)), passed(plain, number, batch(texts=4)))
    assert len(said) == 1
    assert "ptxas is not here" in said[0]


def test_a_lack_of_memory_is_no_failure_to_compile(told):
    said, make = told
    with pytest.raises(torch.OutOfMemoryError):
        passed(make(torch.OutOfMemoryError("too much")), 0)
    assert said == []


def test_it_is_said_why_layers_are_not_compiled():
    assert why_not_compiled(CPU) == "it pays on a GPU only, and this is cpu"


@pytest.mark.parametrize(("found", "said"), [(False, "torch finds no Triton, which its compiler needs"), (True, None)])
def test_on_a_gpu_layers_are_compiled_where_torch_finds_triton(monkeypatch, found, said):
    from torch.utils import _triton

    monkeypatch.setattr(_triton, "has_triton", lambda: found)
    assert why_not_compiled(torch.device("cuda")) == said


@pytest.mark.parametrize("few", [1, 1000], ids=["long passes", "short passes"])
@pytest.mark.parametrize("replayed", [True, False])
def test_passes_that_are_learnt_from_are_compiled_weak_ones_too_and_long_ones_of_evaluation_are_not(
    recorded, monkeypatch, few, replayed
):
    monkeypatch.setattr(encoders, "FEW_TOKENS", few)
    networks = stacked(replayed)
    run: list[str] = []

    def spy(layer, *rest):
        run.append("compiled")
        return layer(*rest)

    networks.run_layer = spy
    passed(networks, 0)
    assert run
    run.clear()
    with torch.no_grad():
        networks.features(batch(), [1, 2])  # pseudo-labels are made of it
        assert run
        run.clear()
        networks.eval().features(batch())
    assert bool(run) is (few == 1000)


def test_nothing_of_a_listener_is_copied_with_the_networks():
    class Unique:
        def note(self, text):
            pass

        def __deepcopy__(self, memo):
            raise AssertionError("was copied")

    networks = StackedEncoders(trained_stack(), Unique().note)
    networks.compile_layers(Unique().note)
    assert copy.deepcopy(networks) is not networks
