"""Features computed once, kept on disk text by text, and read back in any order."""

import numpy as np
import pytest
import torch

from jointmatch.cache import Cache
from jointmatch.networks import (
    Encoder,
    Tokenizer,
    cached_features,
    extract,
    feature_settings,
    features,
    find_backbone,
    load_transformer,
)
from tests.conftest import topic_texts

CPU = torch.device("cpu")
TEXTS, _ = topic_texts(9)
TEXTS[4] = "apple " * 12


@pytest.fixture
def encoder(tiny_backbone):
    return Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0, 0.5, 1.0], "mean").eval()


class Counted:
    """Calls of the transformer, and an interruption at one of them."""

    def __init__(self, encoder, fail_at=0):
        self.texts = self.calls = 0
        self.fail_at, self.inner = fail_at, encoder.transformer.forward
        encoder.transformer.forward = self

    def __call__(self, **inputs):
        self.calls += 1
        if self.calls == self.fail_at:
            raise KeyboardInterrupt
        self.texts += len(inputs["input_ids"])
        return self.inner(**inputs)


def cached(texts, encoder, tokenizer, progress=lambda done: None, settings="s"):
    return cached_features(texts, encoder, tokenizer, CPU, Cache("features"), settings, progress)


def test_extract_keeps_the_order_of_the_texts_whatever_their_length(encoder, tokenizer):
    found = extract(TEXTS, encoder, tokenizer, CPU)
    assert found.shape == (3, 9, 16)
    assert found.dtype == np.float32
    with torch.no_grad():
        for i, text in enumerate(TEXTS):
            np.testing.assert_allclose(found[:, i], encoder(tokenizer([text]))[:, 0].numpy(), atol=1e-5)


def test_cached_features_equal_extracted_ones(encoder, tokenizer):
    np.testing.assert_allclose(cached(TEXTS, encoder, tokenizer), extract(TEXTS, encoder, tokenizer, CPU), atol=1e-6)


def test_a_second_call_computes_nothing_and_gives_the_same_bits(encoder, tokenizer):
    first = cached(TEXTS, encoder, tokenizer)
    count = Counted(encoder)
    assert np.array_equal(cached(TEXTS, encoder, tokenizer), first)
    assert count.calls == 0


def test_cached_texts_may_come_back_in_another_order(encoder, tokenizer):
    first = cached(TEXTS, encoder, tokenizer)
    count = Counted(encoder)
    assert np.array_equal(cached(TEXTS[::-1], encoder, tokenizer), first[:, ::-1])
    assert count.calls == 0


def test_a_repeated_text_is_computed_once_and_given_each_time(encoder, tokenizer):
    count = Counted(encoder)
    found = cached([TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[0]], encoder, tokenizer)
    assert count.texts == 2
    assert np.array_equal(found[:, 0], found[:, 2])
    assert np.array_equal(found[:, 0], found[:, 3])
    assert not np.array_equal(found[:, 0], found[:, 1])


def test_only_texts_not_seen_before_are_computed(encoder, tokenizer):
    known = cached(TEXTS[:5], encoder, tokenizer)
    count = Counted(encoder)
    found = cached(TEXTS, encoder, tokenizer)
    assert count.texts == 4
    assert np.array_equal(found[:, :5], known)
    np.testing.assert_allclose(found, extract(TEXTS, encoder, tokenizer, CPU), atol=1e-6)


def test_interrupted_work_is_kept(encoder, tokenizer, monkeypatch):
    monkeypatch.setattr(features, "TEXTS_PER_WRITE", 2)
    count = Counted(encoder, fail_at=3)
    with pytest.raises(KeyboardInterrupt):
        cached(TEXTS, encoder, tokenizer)
    assert count.texts == 4
    found = cached(TEXTS, encoder, tokenizer)
    assert count.texts == 9
    np.testing.assert_allclose(found, extract(TEXTS, encoder, tokenizer, CPU), atol=1e-6)


@pytest.mark.parametrize("texts", [TEXTS, [TEXTS[0]] * 3 + TEXTS[:2]])
def test_other_settings_never_read_each_others_features(encoder, tokenizer, texts):
    cached(texts, encoder, tokenizer, settings="one")
    count = Counted(encoder)
    cached(texts, encoder, tokenizer, settings="other")
    assert count.texts == len(set(texts))


def test_the_settings_tell_layers_pooling_what_is_read_and_device_apart(tiny_backbone, encoder, tokenizer):
    backbone = find_backbone(str(tiny_backbone))
    longer, ends = Tokenizer(tokenizer.pretrained, 32), Tokenizer(tokenizer.pretrained, 16, "middle")
    variants = [
        feature_settings(backbone, encoder, tokenizer, CPU),
        feature_settings(backbone, encoder, longer, CPU),
        feature_settings(backbone, encoder, ends, CPU),
        feature_settings(backbone, encoder, tokenizer, torch.device("cuda")),
        feature_settings(backbone, Encoder(encoder.transformer, [1.0], "mean"), tokenizer, CPU),
        feature_settings(backbone, Encoder(encoder.transformer, [1.0, 0.5], "first"), tokenizer, CPU),
    ]
    assert len(set(variants)) == 6
    assert feature_settings(backbone, Encoder(encoder.transformer, [0.5, 1.0], "mean"), tokenizer, CPU) == variants[0]


def test_networks_in_another_order_read_the_same_cache(encoder, tokenizer):
    first = cached(TEXTS, encoder, tokenizer)
    swapped = Encoder(encoder.transformer, [0.5, 1.0], "mean").eval()
    count = Counted(swapped)
    assert np.array_equal(cached(TEXTS, swapped, tokenizer), first[[1, 0]])
    assert count.calls == 0


def test_no_texts_give_no_features(encoder, tokenizer):
    assert cached([], encoder, tokenizer).shape == (3, 0, 16)


def test_progress_adds_up_to_the_texts_when_none_is_repeated(encoder, tokenizer):
    done: list[int] = []
    cached(TEXTS, encoder, tokenizer, done.append)
    cached(TEXTS, encoder, tokenizer, done.append)
    assert sum(done) == 18


def test_a_cache_that_cannot_be_used_costs_time_and_nothing_else(encoder, tokenizer, tmp_path):
    (tmp_path / "file").write_text("")
    broken = Cache("features", tmp_path / "file")
    assert broken.problem
    found = cached_features(TEXTS, encoder, tokenizer, CPU, broken, "s")
    np.testing.assert_allclose(found, extract(TEXTS, encoder, tokenizer, CPU), atol=1e-6)
