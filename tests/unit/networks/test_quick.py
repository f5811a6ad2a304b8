"""A frozen BERT on a CPU runs quicker and gives the same features; what does not fit runs as before and says so."""

import copy
import time

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel

from jointmatch.cache import Cache
from jointmatch.networks import (
    Encoder,
    Tokenizer,
    cached_features,
    extract,
    feature_settings,
    find_backbone,
    load_tokenizer,
    load_transformer,
    quick,
    quicken,
)
from jointmatch.networks.quick import (
    TOLERANCE,
    IntegerLinear,
    Linear,
    PackedLinear,
    QuickBert,
    in_integers,
    quicker_in_fp32,
)
from jointmatch.ragged import few_sizes, filled_up
from tests.conftest import topic_texts

CPU = torch.device("cpu")
TEXTS, _ = topic_texts(9)
TEXTS[4], TEXTS[5] = "apple " * 12, ""


@pytest.fixture
def encoder(tiny_backbone):
    return Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0, 0.5, 1.0], "mean").eval()


def bert(**shape):
    torch.manual_seed(3)
    small = {"vocab_size": 50, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
    return BertModel(BertConfig(**{**small, "num_hidden_layers": 3, "max_position_embeddings": 32, **shape}))


def said(encoder, engine) -> str:
    return quicken(encoder, engine) or ""


def distances(found, wanted):
    """Of each text and layer: the length of the difference over the length wanted."""
    return np.linalg.norm(found - wanted, axis=-1) / np.linalg.norm(wanted, axis=-1)


@pytest.mark.parametrize("pooling", ["mean", "first"])
@pytest.mark.parametrize("layers", [[1.0], [1.0, 0.5], [0.5]])
def test_the_quick_form_gives_the_features_of_the_module(tiny_backbone, tokenizer, layers, pooling):
    encoder = Encoder(load_transformer(find_backbone(str(tiny_backbone))), layers, pooling).eval()
    wanted = extract(TEXTS, encoder, tokenizer, CPU)
    assert quicken(encoder, "auto") is None
    assert encoder.quick is not None
    assert distances(extract(TEXTS, encoder, tokenizer, CPU), wanted).max() < TOLERANCE["auto"]


def test_a_bert_of_another_shape_is_quickened_too():
    encoder = Encoder(bert(type_vocab_size=3, layer_norm_eps=1e-5), [0.67, 1.0], "mean").eval()
    assert quicken(encoder, "auto") is None
    assert encoder.quick is not None


def test_the_quick_form_is_really_used_and_leaves_out_layers_nobody_reads(tiny_backbone, tokenizer, monkeypatch):
    encoder = Encoder(load_transformer(find_backbone(str(tiny_backbone))), [0.5], "mean").eval()
    quicken(encoder, "auto")
    monkeypatch.setattr(encoder.transformer, "forward", None)  # would fail if it were called
    assert extract(TEXTS, encoder, tokenizer, CPU).shape == (1, 9, 16)
    assert isinstance(encoder.quick, QuickBert)
    assert not any(name.startswith("layers.1.") for name in encoder.quick.weights)


@pytest.mark.parametrize("kind", [Linear, PackedLinear])
def test_either_way_to_multiply_gives_the_features_of_the_module(encoder, tokenizer, kind):
    wanted = extract(TEXTS, encoder, tokenizer, CPU)
    encoder.quick = QuickBert(encoder.transformer, set(encoder.depths), kind)
    assert distances(extract(TEXTS, encoder, tokenizer, CPU), wanted).max() < TOLERANCE["auto"]


def test_a_product_by_onednn_is_worked_out_by_hand():
    """x = (1, 2), w = ((3, 4), (5, 6), (7, 8)), b = (0, 1, -1): 3 + 8, 5 + 12 + 1, 7 + 16 - 1."""
    layer = PackedLinear(torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), torch.tensor([0.0, 1.0, -1.0]))
    with torch.inference_mode():
        assert layer(torch.tensor([[1.0, 2.0]])).tolist() == [[11.0, 18.0, 22.0]]


def test_products_are_done_in_few_sizes_whatever_the_batch(encoder, tokenizer, monkeypatch):
    """What oneDNN keeps for a size stays for good, so thousands of sizes would fill the memory."""
    met, multiply = set(), Linear.__call__

    def noted(self, x):
        met.add(len(x))
        return multiply(self, x)

    monkeypatch.setattr(Linear, "__call__", noted)
    encoder.quick = QuickBert(encoder.transformer, set(encoder.depths), Linear)
    for count in range(1, 10):
        for length in range(1, 12):
            with torch.no_grad():
                encoder(tokenizer(["apple " * length] * count))
    assert met == {filled_up(rows, few_sizes(rows)) for rows in range(1, 118)}


def slowed(seconds):
    """A product that takes so much longer."""

    def multiply(self, x):
        time.sleep(seconds)
        return x @ torch.ones(x.shape[1], 40)

    return multiply


@pytest.mark.parametrize(
    ("theirs", "onednn", "kind"), [(0.02, 0.0, PackedLinear), (0.0, 0.02, Linear), (0.02, 0.019, Linear)]
)
def test_the_quicker_way_is_taken_and_a_small_difference_decides_nothing(monkeypatch, theirs, onednn, kind):
    monkeypatch.setattr(Linear, "__call__", slowed(theirs))
    monkeypatch.setattr(PackedLinear, "__call__", slowed(onednn))
    assert quicker_in_fp32.__wrapped__(40, 24, 2) is kind


def test_a_torch_without_what_onednn_needs_multiplies_as_before(encoder, monkeypatch):
    def absent(self, weight, bias):
        raise AttributeError("no such operator")

    monkeypatch.setattr(PackedLinear, "__init__", absent)
    assert quicker_in_fp32.__wrapped__(40, 24, 2) is Linear
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    monkeypatch.setattr(PackedLinear, "__init__", None)  # would fail if it were called
    assert quicker_in_fp32.__wrapped__(40, 24, 2) is Linear


def test_integers_are_worked_out_row_by_row():
    """Rows (-254, 127, 1) and (0, 0, 0): scales 2 and as good as none; -254 / 2 = -127, 127 / 2 = 63.5 -> 64 (even)."""
    numbers, scale = in_integers(torch.tensor([[-254.0, 127.0, 1.0], [0.0, 0.0, 0.0]]))
    assert numbers.dtype == torch.int8
    assert numbers.tolist() == [[-127, 64, 0], [0, 0, 0]]
    assert scale[0].item() == 2.0


def test_a_product_in_integers_is_exact_where_the_numbers_are_integers():
    """x = (127, 2), w = ((127, 1), (0, -127)), b = (1, 2): 127 * 127 + 2 + 1 = 16132 and 2 * -127 + 2 = -252."""
    layer = IntegerLinear(torch.tensor([[127.0, 1.0], [0.0, -127.0]]), torch.tensor([1.0, 2.0]))
    np.testing.assert_allclose(layer(torch.tensor([[127.0, 2.0]])).numpy(), [[16132.0, -252.0]], rtol=1e-6)


def test_features_in_integers_are_near_and_not_the_same(encoder, tokenizer):
    wanted = extract(TEXTS, encoder, tokenizer, CPU)
    assert quicken(encoder, "int8") is None
    found = distances(extract(TEXTS, encoder, tokenizer, CPU), wanted)
    assert 1e-4 < found.max() < TOLERANCE["int8"]


def test_features_in_integers_do_not_depend_on_the_batch(encoder, tokenizer):
    quicken(encoder, "int8")
    together = extract(TEXTS, encoder, tokenizer, CPU)
    alone = np.concatenate([extract([text], encoder, tokenizer, CPU) for text in TEXTS], axis=1)
    assert distances(alone, together).max() < TOLERANCE["auto"]


@pytest.mark.parametrize("engine", ["auto", "int8"])
@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (DistilBertModel(DistilBertConfig(vocab_size=50, dim=16, n_heads=2, n_layers=2, hidden_dim=32)), "DistilBert"),
        (bert(hidden_act="relu"), "its activation is 'relu'"),
    ],
)
def test_an_encoder_that_is_no_usual_bert_runs_as_it_is_and_says_so(module, reason, engine):
    encoder = Encoder(module, [1.0], "mean").eval()
    note = said(encoder, engine)
    assert note.startswith("Features are computed by the backbone's own module, not")
    assert reason in note
    assert "\n" not in note
    assert encoder.quick is None


@pytest.mark.parametrize("wrong", [1.001, float("nan")])
def test_features_out_of_tolerance_are_not_served(encoder, tokenizer, monkeypatch, wrong):
    wanted = extract(TEXTS, encoder, tokenizer, CPU)
    right = QuickBert.__call__
    monkeypatch.setattr(QuickBert, "__call__", lambda self, t: {d: h * wrong for d, h in right(self, t).items()})
    assert "wanted at most 1e-05" in said(encoder, "auto")
    np.testing.assert_array_equal(extract(TEXTS, encoder, tokenizer, CPU), wanted)


def test_integers_without_onednn_are_refused(encoder, monkeypatch):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert "no oneDNN" in said(encoder, "int8")
    assert quicken(encoder, "auto") is None


def test_an_encoder_elsewhere_is_left_alone_and_integers_there_are_refused(encoder):
    encoder.to("meta")
    assert quicken(encoder, "auto") is None
    assert "on meta" in said(encoder, "int8")
    assert encoder.quick is None


def test_the_engine_transformers_takes_the_quick_form_away(encoder):
    quicken(encoder, "auto")
    assert quicken(encoder, "transformers") is None
    assert encoder.quick is None


def test_other_weights_are_never_answered_with_the_old_ones(encoder, tokenizer):
    quicken(encoder, "int8")
    old = extract(TEXTS, encoder, tokenizer, CPU)
    other = {name: tensor * 2 for name, tensor in encoder.state_dict().items()}
    torch.nn.ModuleList([encoder]).load_state_dict({f"0.{name}": tensor for name, tensor in other.items()})
    assert encoder.quick is None
    assert distances(extract(TEXTS, encoder, tokenizer, CPU), old).max() > 0.2
    quicken(encoder, "int8")
    encoder.double()
    assert encoder.quick is None


def test_training_and_gradients_go_through_the_module(encoder, tokenizer):
    quicken(encoder, "auto")
    batch = tokenizer(TEXTS)
    encoder(batch).sum().backward()
    assert encoder.transformer.encoder.layer[0].output.dense.weight.grad.abs().sum() > 0
    with torch.no_grad():
        encoder.train()
        monitored = copy.deepcopy(encoder.quick)
        encoder.quick = None
        torch.manual_seed(0)
        wanted = encoder(batch)
        encoder.quick = monitored
        torch.manual_seed(0)
        assert torch.equal(encoder(batch), wanted)


def test_integers_have_a_cache_of_their_own_and_fp32_ways_share_one(tiny_backbone, encoder, tokenizer):
    backbone = find_backbone(str(tiny_backbone))
    settings = {}
    found = {}
    for engine in ("transformers", "auto", "int8"):
        quicken(encoder, engine)
        settings[engine] = feature_settings(backbone, encoder, tokenizer, CPU)
        found[engine] = cached_features(TEXTS, encoder, tokenizer, CPU, Cache("features"), settings[engine])
    assert settings["transformers"] == settings["auto"] != settings["int8"]
    assert np.array_equal(found["transformers"], found["auto"])  # read back
    assert not np.array_equal(found["auto"], found["int8"])


def test_integers_that_fall_back_are_kept_as_what_they_are(tiny_backbone, encoder, tokenizer, monkeypatch):
    backbone = find_backbone(str(tiny_backbone))
    plain = feature_settings(backbone, encoder, tokenizer, CPU)
    monkeypatch.setitem(quick.TOLERANCE, "int8", 0.0)
    assert "not in int8" in said(encoder, "int8")
    assert feature_settings(backbone, encoder, tokenizer, CPU) == plain


@pytest.mark.slow
def test_the_embedded_backbone_keeps_both_tolerances():
    """Integers on texts with words: in an empty one nothing averages out, and it is further off."""
    backbone = find_backbone("minilm")
    tokenizer = Tokenizer(load_tokenizer(backbone), 64)
    encoder = Encoder(load_transformer(backbone), [1.0, 0.67], "mean").eval()
    texts = ["Oil prices fell on Monday.", "The striker scored twice in the final " * 4, "a", "Ünïcode? 東京!"]
    wanted = extract(texts, encoder, tokenizer, CPU)
    for engine, tolerance in TOLERANCE.items():
        assert said(encoder, engine) == ""
        assert distances(extract(texts, encoder, tokenizer, CPU), wanted).max() < tolerance
