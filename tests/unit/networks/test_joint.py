"""Networks of several runs as one stack: the same logits and gradients, in memory that is theirs too."""

import pytest
import torch

from jointmatch.networks import (
    Encoder,
    Heads,
    HeadShape,
    Networks,
    StackedEncoders,
    dropout_seeds,
    find_backbone,
    join_networks,
    load_transformer,
)
from jointmatch.types import Mixing, Mixings
from tests.conftest import topic_texts


@pytest.fixture
def runs_of(tiny_backbone):
    def make(layers=(1.0, 1.0), frozen=False, count=2):
        runs = []
        for seed in range(count):
            encoders = [
                Encoder(load_transformer(find_backbone(str(tiny_backbone))), [layer], "mean") for layer in layers
            ]
            torch.manual_seed(seed)
            for encoder in encoders:
                if frozen:
                    encoder.freeze_embeddings()
                for parameter in encoder.parameters():
                    if parameter.requires_grad:
                        parameter.data += 0.05 * torch.randn_like(parameter)
            runs.append(Networks(StackedEncoders.of(encoders, 0.2), Heads(HeadShape(16, 3, dropout=0.3), len(layers))))
        return runs

    return make


def batches(tokenizer, rows):
    """One for each of two runs with two networks, of different numbers and lengths of texts."""
    short = [" ".join(text.split()[:3]) for text in topic_texts(rows[0], seed=1)[0]]
    return [tokenizer(short), tokenizer(topic_texts(rows[1], seed=2)[0])]


KINDS = pytest.mark.parametrize(("layers", "frozen"), [((1.0, 1.0), False), ((1.0, 0.5), False), ((0.5, 1.0), True)])


@KINDS
@pytest.mark.parametrize("training", [True, False])
def test_each_run_gets_what_its_own_networks_give(runs_of, tokenizer, layers, frozen, training):
    runs = [own.train(training) for own in runs_of(layers, frozen)]
    given = batches(tokenizer, (3, 5))
    seeds = [dropout_seeds(seed, 2, "strong", 1) for seed in (0, 1)]
    wanted = [own(tokens, s) for own, tokens, s in zip(runs, given, seeds, strict=True)]
    joined = join_networks(runs)
    every = [tokens.with_rows(5) for tokens in given for _ in range(2)]
    found = joined.module.train(training)(every, [*seeds[0], *seeds[1]])
    torch.testing.assert_close(found[:2, :3], wanted[0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found[2:], wanted[1], atol=1e-5, rtol=1e-4)


@KINDS
def test_gradients_are_those_of_every_run_alone(runs_of, tokenizer, layers, frozen):
    runs, apart = runs_of(layers, frozen), runs_of(layers, frozen)
    given = batches(tokenizer, (3, 5))
    joined = join_networks(runs)
    logits = joined.module.eval()([tokens.with_rows(5) for tokens in given for _ in range(2)])
    (logits[:2, :3].square().sum() + logits[2:].square().sum()).backward()
    for shares in joined.shares:
        for share in shares:
            share.take_gradient()
    for own, alone, tokens in zip(runs, apart, given, strict=True):
        alone.eval()(tokens).square().sum().backward()
        for found, wanted in zip(own.parameters(), alone.parameters(), strict=True):
            assert (found.grad is None) == (wanted.grad is None)
            if wanted.grad is not None:
                assert found.grad is not None
                torch.testing.assert_close(found.grad, wanted.grad, atol=1e-4, rtol=1e-3)


def test_every_network_mixes_with_its_own_share_and_at_its_own_depth(runs_of, tokenizer):
    runs = [own.eval() for own in runs_of()]
    tokens = tokenizer(topic_texts(4)[0])
    how = [Mixing(torch.tensor([[1, 0, 3, 2]] * 2), 0.7, 0.5), Mixing(torch.tensor([[3, 2, 1, 0]] * 2), 0.9, 1.0)]
    wanted = torch.cat([own(tokens, None, mixing) for own, mixing in zip(runs, how, strict=True)])
    each = Mixings([mixing.of(i) for mixing in how for i in range(2)])
    found = join_networks(runs).module.eval()(tokens, None, each)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)


def test_frozen_words_that_all_runs_have_in_common_are_held_once(runs_of):
    runs = runs_of(frozen=True)
    words = join_networks(runs).module.get_parameter("encoders.stack.embeddings.words")
    assert len(words) == 1
    assert all(own.get_parameter("encoders.stack.embeddings.words").data_ptr() == words.data_ptr() for own in runs)


def test_weights_that_are_put_into_a_run_are_those_of_the_joint_networks(runs_of, tokenizer):
    runs, others = runs_of(), runs_of(count=3)
    tokens = tokenizer(topic_texts(4)[0])
    joined = join_networks(runs)
    runs[0].load_state_dict(others[2].state_dict())
    found = joined.module.eval()(tokens)
    torch.testing.assert_close(found[:2], others[2].eval()(tokens), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found[2:], others[1].eval()(tokens), atol=1e-5, rtol=1e-4)


def test_trained_words_are_each_runs_own_though_they_start_alike_and_ask_for_no_gradient(tiny_backbone):
    """As those of averages do, of methods with one network."""
    runs = []
    for _ in range(2):
        encoder = Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0], "mean")
        runs.append(Networks(StackedEncoders.of([encoder]), Heads(HeadShape(16, 3), 1)).requires_grad_(False))
    assert len(join_networks(runs).module.get_parameter("encoders.stack.embeddings.words")) == 2
