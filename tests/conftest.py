"""Tiny real fixtures: a two-layer, 16-wide BERT from a config, and a toy problem it can learn. No network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

TOPICS = {
    "fruit": ["apple", "banana", "cherry", "grape", "lemon", "mango", "peach", "plum"],
    "metal": ["iron", "copper", "zinc", "silver", "gold", "nickel", "tin", "lead"],
    "music": ["piano", "violin", "drum", "flute", "guitar", "harp", "cello", "horn"],
}
FILLER = ["the", "a", "is", "on", "with", "and", "very", "some", "old", "new", "small", "big"]


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Tiny models are faster on one thread, and two test processes do not fight for two cores."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """No test reads or fills the user's cache."""
    monkeypatch.setenv("JOINTMATCH_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("JOINTMATCH_DATA", raising=False)


@pytest.fixture(scope="session")
def tiny_backbone(tmp_path_factory) -> Path:
    """A two-layer BERT that knows the toy problem's words."""
    from benchmarks.predict_memory import tiny_encoder

    words = [w for topic in TOPICS.values() for w in topic] + FILLER
    return tiny_encoder(tmp_path_factory.mktemp("backbones") / "tiny-bert", words)


@pytest.fixture(scope="session")
def masked_backbone(tmp_path_factory, tiny_backbone) -> Path:
    """The same tiny BERT with a masked-language-model head."""
    import shutil

    import torch
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("backbones") / "tiny-masked-bert"
    shutil.copytree(tiny_backbone, folder)
    torch.manual_seed(1)
    BertForMaskedLM(BertConfig.from_pretrained(tiny_backbone)).save_pretrained(folder)
    return folder


def topic_texts(count: int, seed: int = 0, topics: tuple[str, ...] = tuple(TOPICS)) -> tuple[list[str], list[str]]:
    """Distinct sentences with three words of their topic each, and their labels."""
    rng = np.random.default_rng(seed)
    texts: list[str] = []
    labels: list[str] = []
    while len(texts) < count:
        topic = topics[len(texts) % len(topics)]
        words = [*rng.choice(TOPICS[topic], 3, replace=False), *rng.choice(FILLER, 4)]
        text = " ".join(rng.permutation(words))
        if text not in texts:
            texts.append(text)
            labels.append(topic)
    return texts, labels
