"""The graph that ONNX Runtime is measured with computes what the encoder does."""

import numpy as np
import pytest
import torch

from benchmarks.feature_speed import distance, rates
from benchmarks.onnx_bert import session
from jointmatch.networks import Encoder, Tokenizer, find_backbone, load_tokenizer, load_transformer
from tests.conftest import topic_texts


@pytest.mark.parametrize(("int8", "tolerance"), [(False, 1e-5), (True, 0.14)])
def test_onnx_runtime_gives_the_encoders_features(tiny_backbone, int8, tolerance):
    pytest.importorskip("onnxruntime", reason="only the benchmark needs it: pip install 'jointmatch[bench]'")
    backbone = find_backbone(str(tiny_backbone))
    encoder = Encoder(load_transformer(backbone), [0.5, 1.0], "mean").eval()
    tokens = Tokenizer(load_tokenizer(backbone), 16)([*topic_texts(5)[0], "apple " * 12])
    with torch.no_grad():
        wanted = encoder(tokens).numpy()
    runtime = session(encoder.transformer, [1, 2], int8, threads=1)
    found = runtime.run(None, {"ids": tokens.ids.numpy(), "mask": tokens.mask.int().numpy()})
    assert distance(np.stack(found), wanted)["largest"] < tolerance


def test_ratios_are_of_medians_and_to_sentence_transformers():
    """Medians 2 s and 4 s of 8 texts: 4 and 2 texts/s, a ratio of 2; by processor time 8 s and 4 s, a ratio of 0.5."""
    ours, peer = "jointmatch, two layers", "sentence-transformers encode"
    found = rates(8, {ours: [9.0, 2.0, 1.0], peer: [4.0, 4.0, 1.0]}, {ours: [8.0], peer: [4.0]})
    assert found["texts_per_second"] == {ours: 4.0, peer: 2.0}
    assert found["ratio_to_sentence_transformers"] == {ours: 2.0, peer: 1.0}
    assert found["ratio_by_processor_time"] == {ours: 0.5, peer: 1.0}
