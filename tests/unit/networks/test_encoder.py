"""Pooling, the choice of layers, and features that do not depend on the batch."""

import pytest
import torch

from jointmatch.networks import Encoder, find_backbone, load_transformer
from jointmatch.networks.encoder import depth_of, pool
from tests.conftest import topic_texts

SHORT, LONG = "apple is old", "the piano and the violin with some very big drum on a flute"


@pytest.fixture(scope="module")
def transformer(tiny_backbone):
    return load_transformer(find_backbone(str(tiny_backbone))).eval()


def test_mean_pooling_averages_the_real_tokens_only():
    """((1, 2) + (3, 4)) / 2 = (2, 3); the third is padding."""
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]])
    assert pool(hidden, torch.tensor([[True, True, False]]), "mean").tolist() == [[2.0, 3.0]]


def test_first_pooling_takes_the_first_token():
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    assert pool(hidden, torch.tensor([[True, True]]), "first").tolist() == [[1.0, 2.0]]


def test_a_text_of_no_tokens_pools_to_zero_and_not_to_nan():
    assert pool(torch.ones(1, 2, 2), torch.tensor([[False, False]]), "mean").tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("share", "layers", "depth"), [(1.0, 6, 6), (0.67, 6, 4), (0.5, 12, 6), (0.0, 6, 1), (0.01, 12, 1), (0.99, 12, 12)]
)
def test_a_share_of_the_depth_names_a_layer(share, layers, depth):
    """0.67 * 6 = 4.02 -> 4; never below the first layer."""
    assert depth_of(share, layers) == depth


@pytest.mark.parametrize("pooling", ["mean", "first"])
@torch.no_grad()
def test_padding_does_not_change_features(transformer, tokenizer, pooling):
    encoder = Encoder(transformer, [1.0, 0.5], pooling)
    together = encoder(tokenizer([SHORT, LONG]))
    for i, text in enumerate((SHORT, LONG)):
        torch.testing.assert_close(together[:, i], encoder(tokenizer([text]))[:, 0], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_each_network_reads_the_layer_it_was_given(transformer, tokenizer):
    tokens = tokenizer([SHORT, LONG])
    hidden = transformer(
        input_ids=tokens.ids, attention_mask=tokens.mask.long(), output_hidden_states=True
    ).hidden_states
    encoder = Encoder(transformer, [1.0, 0.5, 1.0], "first")
    assert encoder.depths == [2, 1, 2]
    for features, depth in zip(encoder(tokens), (2, 1, 2), strict=True):
        torch.testing.assert_close(features, hidden[depth][:, 0])


@pytest.mark.parametrize("pooling", ["mean", "first"])
@torch.no_grad()
def test_the_last_layer_is_the_same_alone_or_beside_others(transformer, tokenizer, pooling):
    tokens = tokenizer([SHORT, LONG])
    alone = Encoder(transformer, [1.0, 1.0], pooling)(tokens)
    assert alone.shape == (2, 2, 16)
    torch.testing.assert_close(alone[1], alone[0])
    torch.testing.assert_close(Encoder(transformer, [0.5, 1.0], pooling)(tokens)[1], alone[0])


@torch.no_grad()
def test_different_texts_have_different_features(transformer, tokenizer):
    texts, _ = topic_texts(10)
    features = Encoder(transformer, [1.0], "mean")(tokenizer(texts))[0]
    assert len(features.unique(dim=0)) == 10


def test_frozen_embeddings_keep_their_values_and_the_rest_learns(tiny_backbone, tokenizer):
    encoder = Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0], "mean")
    encoder.freeze_embeddings()
    encoder(tokenizer([SHORT])).sum().backward()
    words = encoder.transformer.get_input_embeddings().weight  # type: ignore[operator]
    assert words.grad is None
    assert any(p.grad is not None for p in encoder.parameters())
