"""Weights go into a stack and come out as they were; what cannot be stacked is told in words."""

import copy
from typing import Any

import pytest
import torch

from jointmatch.errors import InputError
from jointmatch.networks import Encoder, Heads, HeadShape, Networks
from jointmatch.networks.stacked import Stacked, StackedEncoders, why_not_stacked
from tests.unit.networks.stacked.berts import batch, bert
from tests.unit.training.toy import same_state


@pytest.mark.parametrize("layers", [[1.0, 1.0, 1.0], [1.0, 0.2, 0.6]])
@pytest.mark.parametrize("frozen", [True, False])
def test_berts_come_out_bit_by_bit_as_they_went_in(layers, frozen):
    modules = [bert(0 if frozen else i, "deep") for i in range(3)]
    if frozen:
        for module in modules:
            module.get_input_embeddings().requires_grad_(False)
    stack = Stacked.from_modules(modules, [[share] for share in layers])
    for before, after in zip(modules, stack.to_modules(), strict=True):
        assert type(after) is type(before)
        assert same_state(before, after)
    for network, module in enumerate(modules):
        assert stack.network_state(network).keys() == module.state_dict().keys()


def test_a_checkpoint_saved_from_a_stack_is_the_one_the_encoder_itself_saves(tmp_path):
    modules = [bert(i) for i in range(2)]
    for name, source in (("own", modules), ("stacked", Stacked.from_modules(modules).to_modules())):
        for i, module in enumerate(source):
            module.save_pretrained(tmp_path / name / f"network-{i}")  # type: ignore[operator]
    for own in sorted((tmp_path / "own").rglob("*.*")):
        stacked = tmp_path / "stacked" / own.relative_to(tmp_path / "own")
        assert stacked.read_bytes() == own.read_bytes(), own.name


def test_taking_encoders_out_leaves_the_callers_random_stream_alone():
    stack = Stacked.from_modules([bert(0)])
    before = torch.get_rng_state()
    stack.to_modules()
    assert torch.equal(torch.get_rng_state(), before)


def test_what_is_taken_out_no_longer_changes_with_the_stack():
    stack = Stacked.from_modules([bert(0)])
    (module,) = stack.to_modules()
    before = copy.deepcopy(module.state_dict())
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.zero_()
    assert all(torch.equal(before[name], tensor) for name, tensor in module.state_dict().items())


@pytest.fixture
def pair():
    """The same two networks, apart and stacked."""

    def make(first_seed, layers=(1.0, 0.4)):
        encoders = [Encoder(bert(first_seed + i, "deep"), [share], "mean") for i, share in enumerate(layers)]
        heads = Heads(HeadShape(12, 3), 2, seed=first_seed)
        return Networks(encoders, heads), Networks(StackedEncoders.of(encoders), copy.deepcopy(heads))

    return make


def test_a_state_dict_has_the_same_names_and_numbers_in_either_form(pair):
    separate, stacked = pair(0)
    assert same_state(separate, stacked)
    assert same_state(stacked.apart(), separate)


def test_a_state_dict_of_either_form_loads_into_the_other(pair):
    separate, stacked = pair(0)
    others = pair(5)
    stacked.load_state_dict(others[0].state_dict())
    separate.load_state_dict(others[1].state_dict())
    for module in (separate, stacked, copy.deepcopy(stacked)):
        assert same_state(module, others[0])


@pytest.mark.parametrize("change", ["lacking", "too many"])
def test_a_state_dict_that_does_not_fit_is_refused(pair, change):
    separate, stacked = pair(0)
    state = separate.state_dict()
    name = "encoders.1.transformer.encoder.layer.0.output.dense.bias"
    if change == "lacking":
        del state[name]
    else:
        state[f"{name}.more"] = torch.zeros(1)
    with pytest.raises(RuntimeError, match=r"encoders\.1\.transformer\.encoder\.layer\.0\.output\.dense\.bias"):
        stacked.load_state_dict(state)


def test_a_copy_has_tensors_of_its_own(pair):
    _, stacked = pair(0)
    other = copy.deepcopy(stacked)
    with torch.no_grad():
        next(iter(other.encoders.parameters())).zero_()
    assert not same_state(stacked, other)
    assert not torch.equal(stacked.eval()(batch()), other.eval()(batch()))


def unlike(**settings):
    return [bert(0), bert(1, **settings)]


def other_heads(count):
    """Two whose every tensor has the same shape: how many heads there are is in their configurations alone."""
    modules = unlike()
    modules[1].config.num_attention_heads = count
    return modules


def positioned(kind):
    """As versions of transformers said it that still had other positions."""
    module = bert(0)
    module.config.position_embedding_type = kind
    return module


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        (lambda: [bert(0, hidden_act="relu")], "activation is 'relu'"),
        (lambda: unlike(vocabulary=38), "differ in shape"),
        (lambda: unlike(dropout=0.3), "differ in shape"),
        (lambda: unlike(shape="flat"), "differ in shape"),
        (lambda: unlike(layer_norm_eps=1e-5), "differ in shape"),
        (lambda: other_heads(4), "differ in shape"),
        (lambda: [positioned("relative_key")], "positions are 'relative_key'"),
        (lambda: [bert(0, is_decoder=True)], "decoder"),
        (lambda: [torch.nn.Linear(2, 2)], "a Linear cannot be stacked"),
    ],
)
def test_what_cannot_be_stacked_is_told(modules, words):
    with pytest.raises(InputError, match=words):
        Stacked.from_modules(modules())


def test_one_frozen_and_one_trained_encoder_are_not_stacked():
    modules = [bert(0), bert(1)]
    assert why_not_stacked(modules) is None
    modules[0].get_input_embeddings().requires_grad_(False)
    assert why_not_stacked(modules) == "the encoders differ in shape"


def test_an_encoder_that_only_looks_like_a_bert_is_told_by_its_name():
    from transformers import RobertaConfig, RobertaModel

    sizes: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    roberta = RobertaModel(RobertaConfig(vocab_size=20, **sizes))
    assert why_not_stacked([roberta]) == "a RobertaModel cannot be stacked, only a BertModel"
