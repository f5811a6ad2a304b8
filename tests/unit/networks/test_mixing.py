"""Two texts mixed inside an encoder, against the same mix written out by hand from two passes."""

from typing import Any

import pytest
import torch
from torch import nn

from jointmatch.errors import InputError
from jointmatch.networks import Encoder, Head, Heads, HeadShape, Networks, find_backbone
from jointmatch.networks.backbones import load_transformer
from jointmatch.networks.mixing import layers_of, mix, union
from jointmatch.networks.tokens import Tokens
from jointmatch.types import Mixing

SHORT, LONG = "apple is old", "the piano and the violin with some very big drum on a flute"
HALF, LAST = 0.5, 1.0  # of two layers: after the first, after the second


@pytest.fixture(scope="module")
def transformer(tiny_backbone):
    return load_transformer(find_backbone(str(tiny_backbone))).eval()


def pair(share=0.7, depth=HALF, partner=(1, 0)):
    return Mixing(torch.tensor(partner), share, depth)


def states(transformer, tokens):
    """Hidden states of each text, computed in a pass of its own at the batch's width: depth -> (B, T, D)."""
    passes = [
        transformer(
            input_ids=tokens.ids[i : i + 1], attention_mask=tokens.mask[i : i + 1].long(), output_hidden_states=True
        ).hidden_states
        for i in range(len(tokens.ids))
    ]
    return [torch.cat(layer) for layer in zip(*passes, strict=True)]


def through(layer, states):
    """A layer's output for unmasked states; up to version 4, transformers wraps it in a tuple."""
    found = layer(states, None)
    return found[0] if isinstance(found, tuple) else found


def test_a_mix_takes_its_share_of_each():
    """0.7 * 1 + 0.3 * 5 = 2.2, 0.7 * 5 + 0.3 * 1 = 3.8."""
    mixed = mix(torch.tensor([[1.0], [5.0]]), pair())
    torch.testing.assert_close(mixed, torch.tensor([[2.2], [3.8]]))


@pytest.mark.parametrize("mask", [torch.tensor([[True, False], [True, True]]), torch.tensor([[0.0, -9.0], [0.0, 0.0]])])
def test_a_union_shows_what_either_text_has(mask):
    whole = mask[1]
    assert torch.equal(union(mask, torch.tensor([1, 1])), torch.stack([whole, whole]))
    assert torch.equal(union(mask, torch.tensor([0, 1])), mask)


@torch.no_grad()
def test_mixed_after_the_last_layer_the_pooled_tokens_are_those_of_both(transformer, tokenizer):
    """Every token state is 0.7 of the text's own and 0.3 of the other's, and the mean is over the longer text."""
    tokens = tokenizer([SHORT, LONG])
    last = states(transformer, tokens)[2]
    wanted = (0.7 * last + 0.3 * last.flip(0)).mean(1)
    assert not tokens.mask.all()
    torch.testing.assert_close(Encoder(transformer, [1.0], "mean")(tokens, pair(depth=LAST))[0], wanted)


@pytest.mark.parametrize("pooling", ["mean", "first"])
@torch.no_grad()
def test_mixed_after_the_first_layer_the_second_reads_both_texts_tokens(transformer, tokenizer, pooling):
    tokens = tokenizer([SHORT, LONG])
    first = states(transformer, tokens)[1]
    mixed = 0.7 * first + 0.3 * first.flip(0)
    second = through(transformer.encoder.layer[1], mixed)  # no mask: the longer text fills the batch's width
    wanted = second.mean(1) if pooling == "mean" else second[:, 0]
    torch.testing.assert_close(Encoder(transformer, [1.0], pooling)(tokens, pair())[0], wanted)


@torch.no_grad()
def test_of_three_layers_only_the_states_between_the_first_two_are_mixed():
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes: dict[str, Any] = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2}
    deep = BertModel(BertConfig(**sizes, intermediate_size=16)).eval()
    tokens = Tokens(
        torch.tensor([[5, 6, 7, 8], [10, 11, 0, 0]]), torch.tensor([[True] * 4, [True, True, False, False]])
    )
    first = states(deep, tokens)[1]
    second, third = deep.encoder.layer[1:]
    wanted = through(third, through(second, 0.7 * first + 0.3 * first.flip(0))).mean(1)
    torch.testing.assert_close(Encoder(deep, [1.0], "mean")(tokens, pair(depth=0.4))[0], wanted)


@torch.no_grad()
def test_positions_that_neither_text_has_are_not_read(transformer, tokenizer):
    """Beside a third, longer text the mix of two is what it is without it."""
    encoder = Encoder(transformer, [1.0], "mean")
    two = encoder(tokenizer([SHORT, "gold is new and big"]), pair())
    three = encoder(tokenizer([SHORT, "gold is new and big", LONG]), pair(partner=(1, 0, 2)))
    torch.testing.assert_close(three[:, :2], two, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("depth", [HALF, LAST])
@torch.no_grad()
def test_a_text_that_is_its_own_partner_is_itself(transformer, tokenizer, depth):
    tokens = tokenizer([SHORT, LONG])
    encoder = Encoder(transformer, [1.0], "mean")
    torch.testing.assert_close(encoder(tokens, pair(0.6, depth, (0, 1))), encoder(tokens))


@torch.no_grad()
def test_an_encoder_read_at_a_lower_layer_is_mixed_at_that_layer_at_the_latest(transformer, tokenizer):
    """Read after the first of two layers, a depth of 1.0 mixes there, once."""
    tokens = tokenizer([SHORT, LONG])
    first = states(transformer, tokens)[1]
    encoder = Encoder(transformer, [0.5], "mean")
    wanted = (0.7 * first + 0.3 * first.flip(0)).mean(1)
    for depth in (HALF, LAST):
        torch.testing.assert_close(encoder(tokens, pair(depth=depth))[0], wanted)


@torch.no_grad()
def test_the_encoder_is_as_it_was_afterwards(transformer, tokenizer):
    tokens = tokenizer([SHORT, LONG])
    encoder = Encoder(transformer, [1.0], "mean")
    before = encoder(tokens)
    assert not torch.allclose(encoder(tokens, pair()), before)
    assert torch.equal(encoder(tokens), before)


def test_a_gradient_reaches_both_texts(tiny_backbone, tokenizer):
    encoder = Encoder(load_transformer(find_backbone(str(tiny_backbone))).eval(), [1.0], "mean")
    tokens = tokenizer(["apple", "gold"])
    # Not the sum, which a normalised layer holds at one value whatever it reads.
    encoder(tokens, pair())[0, 0].square().cumsum(0).sum().backward()
    words = encoder.transformer.get_input_embeddings().weight.grad  # type: ignore[operator]
    assert all(words[tokens.ids[i, 1]].abs().sum() > 0 for i in (0, 1))


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "DistilBert", "Electra", "MPNet", "ModernBert", "DebertaV2"])
@torch.no_grad()
def test_other_encoders_can_be_mixed_too(kind):
    """Two texts of five and three tokens; mixing with oneself changes nothing, with the other it does."""
    import transformers

    torch.manual_seed(0)
    sizes = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = getattr(transformers, f"{kind}Config")(
        **sizes, intermediate_size=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2
    )
    encoder = Encoder(getattr(transformers, f"{kind}Model")(config).eval(), [1.0], "mean")
    tokens = Tokens(
        ids=torch.tensor([[5, 6, 7, 8, 9], [10, 11, 12, 0, 0]]),
        mask=torch.tensor([[True] * 5, [True] * 3 + [False] * 2]),
    )
    plain = encoder(tokens)
    torch.testing.assert_close(encoder(tokens, pair(partner=(0, 1))), plain, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(encoder(tokens, pair()), plain, atol=1e-4)


def test_an_encoder_without_a_list_of_layers_is_refused_in_words():
    from transformers import AlbertConfig, AlbertModel

    shared = AlbertModel(AlbertConfig(hidden_size=16, num_attention_heads=2, num_hidden_layers=2, intermediate_size=16))
    with pytest.raises(InputError, match="AlbertModel has no list of 2 layers"):
        layers_of(shared)


def test_the_layers_are_found_in_order(transformer):
    assert layers_of(transformer) == list(transformer.encoder.layer)


def test_a_head_mixes_normalised_features_before_it_classifies():
    """(3, 4) / 5 and (1, 0) at scale 2: (1.2, 1.6) and (2, 0); the first at 0.75: (1.4, 1.2)."""
    head = Head(HeadShape(2, 2, dropout=0.0, scale=2.0)).eval()
    nn.init.eye_(head.classify.weight)
    nn.init.zeros_(head.classify.bias)
    mixed = head(torch.tensor([[3.0, 4.0], [5.0, 0.0]]), Mixing(torch.tensor([1, 1]), 0.75))
    torch.testing.assert_close(mixed, torch.tensor([[1.4, 1.2], [2.0, 0.0]]))


def test_each_network_has_partners_of_its_own(tiny_backbone, tokenizer):
    encoders = [Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0], "mean") for _ in range(2)]
    networks = Networks(encoders, Heads(HeadShape(16, 3), 2)).eval()
    tokens = tokenizer([SHORT, LONG])
    both = networks(tokens, None, Mixing(torch.tensor([[0, 1], [1, 0]]), 0.7, HALF))
    plain = networks(tokens)
    torch.testing.assert_close(both[0], plain[0])
    assert not torch.allclose(both[1], plain[1])
    heads, features = networks.heads, torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(0))
    both = heads(features, None, Mixing(torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]]), 0.7))
    torch.testing.assert_close(both[0], heads(features)[0])
    assert not torch.allclose(both[1], heads(features)[1])
