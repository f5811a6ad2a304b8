"""Whole networks: tokens to logits."""

import pytest
import torch

from jointmatch.networks import (
    Encoder,
    Heads,
    HeadShape,
    Networks,
    Tokenizer,
    dropout_seeds,
    find_backbone,
    load_tokenizer,
    load_transformer,
)
from tests.conftest import topic_texts


@pytest.fixture(scope="module")
def tokens(tiny_backbone):
    texts, _ = topic_texts(5)
    return Tokenizer(load_tokenizer(find_backbone(str(tiny_backbone))), 16)(texts)


@pytest.fixture
def networks_of(tiny_backbone):
    def make(count):
        encoders = [Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0], "mean") for _ in range(count)]
        return Networks(encoders, Heads(HeadShape(16, 3, dropout=0.3), count))

    return make


def test_one_encoder_serves_every_head(tiny_backbone, tokens):
    shared = Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0, 0.5], "mean")
    networks = Networks([shared], Heads(HeadShape(16, 3), 2)).eval()
    assert networks(tokens).shape == (2, 5, 3)
    features = networks.features(tokens)
    assert torch.equal(networks(tokens)[1], networks.heads[1](features[1]))


def test_networks_with_encoders_of_their_own_give_one_row_of_logits_each(networks_of, tokens):
    assert networks_of(2).eval()(tokens).shape == (2, 5, 3)


@torch.no_grad()
def test_dropout_in_the_first_network_does_not_depend_on_how_many_there_are(networks_of, tokens):
    alone = networks_of(1).train()(tokens, dropout_seeds(0, 1, "strong", 3))
    pair = networks_of(2).train()(tokens, dropout_seeds(0, 2, "strong", 3))
    assert torch.equal(alone[0], pair[0])


@torch.no_grad()
def test_each_network_drops_out_by_itself(networks_of, tokens):
    networks = networks_of(2).train()
    features = networks.features(tokens, dropout_seeds(0, 2, "strong", 3))
    assert not torch.equal(features[0], features[1])
    assert torch.equal(features, networks.features(tokens, dropout_seeds(0, 2, "strong", 3)))


@torch.no_grad()
def test_a_pass_leaves_the_callers_random_stream_alone(networks_of, tokens):
    networks = networks_of(2).train()
    before = torch.get_rng_state()
    networks(tokens, dropout_seeds(0, 2, "strong", 3))
    assert torch.equal(torch.get_rng_state(), before)


def test_under_autocast_the_heads_stay_in_full_precision(networks_of, tokens):
    networks = networks_of(2).eval()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        logits, features = networks(tokens), networks.features(tokens)
        coarse = networks.heads(features)
    torch.testing.assert_close(logits, networks.heads(features.float()).detach(), atol=1e-6, rtol=0)
    assert not torch.equal(logits, coarse.float())
