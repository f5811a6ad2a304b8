"""Stacked encoders against ``transformers``' own modules, one by one: features, losses, gradients."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from jointmatch.networks import Encoder, Tokens, find_backbone, load_transformer
from jointmatch.networks.stacked import Stacked, StackedEncoders
from jointmatch.types import Mixing
from tests.unit.networks.stacked.berts import SHAPES, apart, batch, bert, gradients


def assert_close(one: Tensor, other: Tensor, what: str = "features") -> None:
    torch.testing.assert_close(one, other, atol=2e-5, rtol=2e-5, msg=lambda text: f"{what}: {text}")


def loss_of(features: Tensor) -> Tensor:
    """Something uneven of (N, B, D): cross entropy of a fixed projection, summed over networks."""
    project = torch.randn(features.shape[-1], 3, generator=torch.Generator().manual_seed(9))
    logits = features @ project
    labels = torch.arange(features.shape[1]) % 3
    return sum((F.cross_entropy(own, labels) * (i + 1) for i, own in enumerate(logits)), torch.zeros(()))


def stacked_gradients(stack: Stacked, network: int) -> dict[str, Tensor | None]:
    """By the names a BERT has: the stack with gradients in the place of weights."""
    found: dict[str, Tensor | None] = dict.fromkeys(stack.network_state(network))
    for name, networks, theirs in stack._sources():
        grad = stack.get_parameter(name).grad
        if network in networks and grad is not None:
            parts = grad[0 if len(grad) == 1 else networks.index(network)].chunk(len(theirs))
            found |= dict(zip(theirs, parts, strict=True))
    return found


def check_alike(modules, tokens, layers, pooling="mean"):
    """Features, loss and every gradient."""
    stack = Stacked.from_modules(modules, [[share] for share in layers], pooling)
    batches = tokens if isinstance(tokens, list) else [tokens] * len(modules)
    shown = StackedEncoders(stack).features(tokens)
    wanted = apart(modules, batches, layers, pooling)
    assert_close(shown, wanted)
    loss, wanted_loss = loss_of(shown), loss_of(wanted)
    assert_close(loss, wanted_loss)
    loss.backward()
    for module in modules:
        module.zero_grad()
    wanted_loss.backward()
    for network, module in enumerate(modules):
        own, theirs = stacked_gradients(stack, network), gradients(module)
        assert own.keys() == theirs.keys()
        for name, wanted_gradient in theirs.items():
            if wanted_gradient is None:
                assert own[name] is None, name
            else:
                own_gradient = own[name]
                assert own_gradient is not None, name
                assert_close(own_gradient, wanted_gradient, name)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("shape", SHAPES)
def test_any_number_of_networks_of_any_shape(shape, count):
    check_alike([bert(i, shape) for i in range(count)], batch(), [1.0] * count)


@pytest.mark.parametrize("vocabulary", [11, 300])
@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_a_batch_for_each_network_padded_alike(vocabulary, pooling):
    tokens = [batch(i, length=5 + 4 * i, vocabulary=vocabulary) for i in range(3)]
    check_alike([bert(i, vocabulary=vocabulary) for i in range(3)], tokens, [1.0] * 3, pooling)


@pytest.mark.parametrize("layers", [[1.0, 0.6, 1.0], [0.2, 0.8, 0.4], [0.6, 0.6, 0.6]])
def test_each_network_reads_its_own_layer_and_later_ones_get_no_gradient(layers):
    check_alike([bert(i, "deep") for i in range(3)], batch(), layers)


def test_several_layers_of_one_network():
    modules = [bert(i, "deep") for i in range(2)]
    reads = [[1.0, 0.4], [0.6, 0.2, 0.6]]
    shown = StackedEncoders(Stacked.from_modules(modules, reads)).features(batch())
    wanted = torch.cat([Encoder(m, own, "mean")(batch()) for m, own in zip(modules, reads, strict=True)])
    assert_close(shown, wanted)


def test_a_padding_token_inside_a_text_is_read_and_its_vector_not_learnt():
    """As ``nn.Embedding`` has it; the vector is not zero here, so that reading it counts."""
    tokens = Tokens(torch.tensor([[3, 0, 5], [0, 4, 4]]), torch.ones(2, 3, dtype=torch.bool))
    modules = [bert(i) for i in range(2)]
    assert modules[0].get_input_embeddings().weight[0].abs().sum() > 0
    check_alike(modules, tokens, [1.0, 1.0])


def test_a_bert_without_a_padding_token_learns_every_vector():
    tokens = Tokens(torch.tensor([[3, 0, 5], [0, 4, 4]]), torch.ones(2, 3, dtype=torch.bool))
    check_alike([bert(i, pad_token_id=None) for i in range(2)], tokens, [1.0, 1.0])


def test_frozen_words_are_held_once_where_they_are_the_same():
    modules = [bert(0) for _ in range(3)]
    for module in modules:
        module.get_input_embeddings().requires_grad_(False)
    assert Stacked.from_modules(modules).embeddings.words.shape[0] == 1
    check_alike(modules, batch(), [1.0] * 3)
    check_alike(modules, [batch(i) for i in range(3)], [1.0] * 3)


def test_frozen_words_that_differ_are_held_each():
    modules = [bert(i) for i in range(2)]
    for module in modules:
        module.get_input_embeddings().requires_grad_(False)
    assert Stacked.from_modules(modules).embeddings.words.shape[0] == 2
    check_alike(modules, batch(), [1.0] * 2)


@torch.no_grad()
def test_padding_does_not_matter():
    encoders = StackedEncoders(Stacked.from_modules([bert(i) for i in range(2)])).eval()
    short = batch(length=7)
    room = torch.zeros(4, 6, dtype=torch.long)
    long = Tokens(torch.cat([short.ids, room + 5], 1), torch.cat([short.mask, room.bool()], 1))
    assert_close(encoders.features(long), encoders.features(short))


@pytest.mark.parametrize("depth", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("layers", [[1.0, 1.0], [1.0, 0.4]])
def test_texts_are_mixed_as_in_encoders_that_stand_apart(depth, layers):
    modules = [bert(i, "deep") for i in range(2)]
    mixing = Mixing(torch.tensor([[1, 0, 3, 2], [3, 2, 0, 1]]), 0.7, depth)
    encoders = [Encoder(m, [share], "mean") for m, share in zip(modules, layers, strict=True)]
    wanted = torch.cat([encoder(batch(), mixing.of(i)) for i, encoder in enumerate(encoders)])
    assert_close(StackedEncoders.of(encoders).features(batch(), None, mixing), wanted)


@torch.no_grad()
def test_under_autocast_features_are_those_of_encoders_in_bf16_to_its_precision():
    modules = [bert(i) for i in range(2)]
    exact = apart(modules, [batch()] * 2, [1.0] * 2)
    with torch.autocast("cpu", torch.bfloat16):
        coarse = StackedEncoders(Stacked.from_modules(modules)).features(batch())
    assert not torch.equal(coarse.float(), exact)
    torch.testing.assert_close(coarse.float(), exact, atol=0.1, rtol=0.1)


@pytest.mark.slow
def test_the_real_backbone_stacked_is_itself():
    modules = [load_transformer(find_backbone("minilm")) for _ in range(2)]
    with torch.no_grad():
        for parameter in modules[1].parameters():
            parameter.mul_(1.01)
    vocabulary = modules[0].config.vocab_size
    check_alike(modules, batch(texts=3, length=20, vocabulary=vocabulary), [1.0, 0.67])
