"""The measurement of a mode between lite and full, on a tiny backbone."""

import json

import numpy as np
import torch

import benchmarks.partial_mode as measured
from jointmatch.networks import Encoder, Tokenizer, find_backbone, load_tokenizer, load_transformer
from tests.conftest import topic_texts
from tests.unit.training.toy import topic_splits


def test_layers_over_what_is_recalled_give_the_encoders_features(tiny_backbone, tmp_path):
    """In batches of other lengths than those the activations were made in, and in any order."""
    backbone = find_backbone(str(tiny_backbone))
    texts = [*topic_texts(6)[0], "apple " * 12, "tin"]
    tokenizer = Tokenizer(load_tokenizer(backbone), 16)
    memory = measured.Memory(tmp_path, texts, tokenizer)
    memory.fill(Encoder(load_transformer(backbone), [0.5, 1.0], "mean"), {1})
    upper = measured.Upper(load_transformer(backbone), top=2, depth=1, memory=memory, pooling="mean").eval()
    asked = texts[::-2]
    with torch.no_grad():
        wanted = Encoder(load_transformer(backbone), [1.0], "mean").eval()(tokenizer(asked))
        found = upper(measured.Places(memory)(asked))
    assert torch.allclose(found, wanted, atol=5e-3)  # half precision in between
    assert torch.allclose(memory.pooled(2, asked), wanted[0], atol=1e-5)
    assert memory.tokens(1).dtype == np.float16


def test_lite_and_partial_are_trained_scored_and_told_with_their_machine(tiny_backbone, tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "load_benchmark", lambda *args: topic_splits())
    target = tmp_path / "partial.json"
    common = ["--folder", str(tmp_path / "kept"), "--backbone", str(tiny_backbone), "--seeds", "0"]
    sizes = ["--layers", "1", "--kept", "1", "--length", "16", "--steps", "4", "--evaluate-every", "2", "--dev", "6"]
    measured.main([*common, "--lite", "--output", str(target)])
    measured.main([*common, *sizes, "--output", str(target)])
    measured.main([*common, *sizes, "--views", "deletion:0.2", "--output", str(target)])
    result = json.loads(target.read_text(encoding="utf-8"))
    runs = result["ag_news"]["runs"]
    assert len(runs) == 3
    assert all(0 <= run["0"]["accuracy"] <= 1 and run["0"]["seconds_per_step"] > 0 for run in runs.values())
    assert result["ag_news"]["activations, views none"]["bytes_per_depth"] > 0
    assert result["machine"]["device"]


def test_only_the_last_layers_and_the_heads_learn(tiny_backbone, tmp_path):
    backbone = find_backbone(str(tiny_backbone))
    memory = measured.Memory(tmp_path, ["apple", "tin"], Tokenizer(load_tokenizer(backbone), 16))
    memory.fill(Encoder(load_transformer(backbone), [0.5, 1.0], "mean"), {1})
    transformer = load_transformer(backbone)
    upper = measured.Upper(transformer, top=2, depth=1, memory=memory, pooling="mean")
    last = [name for name, _ in transformer.named_parameters() if "layer.1." in name]
    assert [
        name.replace("transformer.", "").replace("layer.0.", "layer.1.") for name, _ in upper.named_parameters()
    ] == last
