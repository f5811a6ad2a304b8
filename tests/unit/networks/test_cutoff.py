"""Feature cut-off: whole dimensions of a text, while training only."""

import copy

import pytest
import torch

from jointmatch.networks import Encoder, Heads, HeadShape, find_backbone, load_transformer
from jointmatch.networks.cutoff import cut_features
from tests.unit.training.toy import tiny_run


def test_a_dimension_goes_from_all_tokens_of_a_text_and_not_from_all_texts():
    torch.manual_seed(0)
    kept = cut_features(torch.ones(50, 7, 20), 0.3) != 0
    assert (kept == kept[:, :1]).all()
    assert not (kept == kept[:1]).all()
    assert kept[:, 0].float().mean().item() == pytest.approx(0.7, abs=0.05)


def test_features_of_texts_without_a_token_axis_are_cut_too():
    torch.manual_seed(0)
    assert (cut_features(torch.ones(200, 10), 0.5) == 0).float().mean().item() == pytest.approx(0.5, abs=0.05)


def test_nothing_is_cut_at_rate_0_and_everything_at_rate_1():
    x = torch.randn(3, 4, 5)
    assert torch.equal(cut_features(x, 0.0), x)
    assert (cut_features(x, 1.0) == 0).all()


def test_a_head_hides_dimensions_while_training_and_none_when_asked():
    heads = Heads(HeadShape(6, 2, dropout=0.0, cutoff=1.0), 1)
    x = torch.randn(1, 3, 6)
    bias = heads.each()[0].classify.bias.expand(1, 3, 2)
    torch.testing.assert_close(heads.train()(x, [0]), bias)
    assert not torch.allclose(heads.eval()(x), bias)


def test_an_encoder_s_copy_is_cut_by_its_own_mode(tiny_backbone):
    encoder = Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0], "mean")
    encoder.cut_features(1.0)
    ids = torch.arange(1, 5)[None]
    average = copy.deepcopy(encoder).eval()
    encoder.train()
    assert (encoder.transformer.get_input_embeddings()(ids) == 0).all()  # type: ignore[operator]
    assert (average.transformer.get_input_embeddings()(ids) != 0).any()  # type: ignore[operator]


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_a_run_takes_the_setting_in_either_mode(tiny_backbone, mode):
    def history(rate):
        settings = {"training": {"mode": mode}, "network": {"feature_cutoff": rate, "head_dropout": 0.0}}
        return tiny_run(tiny_backbone, settings).history

    assert history(0.5) != history(0.0)
    assert history(0.5) == history(0.5)
