"""One encoder, trained, for several heads."""

import numpy as np
import pytest
import torch

from jointmatch.config import AugmentConfig, TrainingConfig
from jointmatch.errors import InputError
from jointmatch.model import Model
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
from jointmatch.training import FullLearner, Views
from jointmatch.training.learner import Student
from jointmatch.training.optimizer import build_optimizer, clip
from tests.conftest import topic_texts
from tests.unit.training.toy import rows, tiny_run, topic_splits, weights

MULTIMATCH = {"algorithm": {"name": "multimatch"}, "training": {"mode": "full"}}


@pytest.fixture
def learner(tiny_backbone):
    backbone = find_backbone(str(tiny_backbone))
    shared = Encoder(load_transformer(backbone), [1.0] * 3, "mean")
    networks = Networks([shared], Heads(HeadShape(16, 3, dropout=0.3), 3))
    tokenizer = Tokenizer(load_tokenizer(backbone), 16)
    return FullLearner(topic_splits(), networks, tokenizer, Views(AugmentConfig(), 0), torch.device("cpu"), None)


def test_every_parameter_is_clipped_and_updated_once(learner):
    every = [p for group in learner.per_network() for p in group]
    assert len(every) == len({id(p) for p in every}) == len(list(learner.networks.parameters()))
    optimizer = build_optimizer(learner, TrainingConfig(learning_rate=1e-5, head_learning_rate=1e-3))
    updated = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert len(updated) == len(set(updated)) == len(every)
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    encoder = {id(p) for p in learner.encoder_parameters()}
    assert {rate for key, rate in rates.items() if key in encoder} == {1e-5}
    assert {rate for key, rate in rates.items() if key not in encoder} == {1e-3}


def test_the_gradient_is_clipped_to_the_norm_as_a_whole(learner):
    given, _ = learner.student_logits(Student(rows(0, 1), rows(2), dropout_seeds(0, 3, "strong"), 0))
    (100 * given.square().sum()).backward()
    clip(learner.per_network(), 1.0)
    norms = [p.grad.norm() for p in learner.networks.parameters() if p.grad is not None]
    assert torch.stack(norms).norm().item() == pytest.approx(1.0, rel=1e-3)


def test_every_head_trains_the_encoder_and_reads_the_same_of_it(learner):
    learner.networks.train()
    given, strong = learner.student_logits(Student(rows(0, 1), rows(2, 3, 4), dropout_seeds(0, 3, "strong"), 0))
    assert (given.shape, strong.shape) == ((3, 2, 3), (3, 3, 3))
    tokens = learner.tokenizer(topic_texts(3)[0])
    features = learner.networks.features(tokens, dropout_seeds(0, 3, "strong"))
    assert torch.equal(features[0], features[2])
    for head in range(3):
        learner.networks.zero_grad()
        logits = learner.networks(tokens, dropout_seeds(0, 3, "strong"))
        logits[head].square().sum().backward()
        assert all(p.grad is None or p.grad.any() for p in learner.networks.heads[head].parameters())
        assert any(p.grad is not None and p.grad.any() for p in learner.encoder_parameters())


@torch.no_grad()
def test_with_a_batch_each_the_heads_read_their_own(learner):
    networks = learner.networks.eval()
    batches = [learner.tokenizer(topic_texts(4, seed=seed)[0]) for seed in range(3)]
    features = networks.features(batches)
    for i, batch in enumerate(batches):
        torch.testing.assert_close(features[i], networks.features(batch)[i])


def test_a_run_in_full_trains_one_encoder_and_it_is_saved_once(tiny_backbone, tmp_path):
    outcome = tiny_run(tiny_backbone, MULTIMATCH)
    networks = outcome.model.networks
    assert (len(networks.encoders), len(networks.heads)) == (1, 3)
    start = Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0], "mean")
    assert not torch.equal(weights(networks.encoders), weights(start))
    outcome.model.save(tmp_path / "model")
    assert len(list((tmp_path / "model").rglob("model.safetensors"))) == 1
    loaded = Model.load(tmp_path / "model")
    texts = topic_texts(5)[0]
    np.testing.assert_array_equal(loaded.network_probs(texts), outcome.model.network_probs(texts))
    loaded.save(tmp_path / "again")
    np.testing.assert_array_equal(Model.load(tmp_path / "again").network_probs(texts), loaded.network_probs(texts))


@pytest.mark.parametrize("lost", ["encoder/model.safetensors", "encoder/config.json", "heads.safetensors"])
def test_a_folder_that_lost_a_part_is_refused(tiny_backbone, tmp_path, lost):
    tiny_run(tiny_backbone, MULTIMATCH).model.save(tmp_path / "model")
    (tmp_path / "model" / lost).unlink()
    with pytest.raises(InputError):
        Model.load(tmp_path / "model")


def test_a_folder_without_its_trained_encoder_is_not_given_the_untrained_one(tiny_backbone, tmp_path):
    tiny_run(tiny_backbone, MULTIMATCH).model.save(tmp_path / "model")
    (tmp_path / "model" / "encoder").rename(tmp_path / "elsewhere")
    with pytest.raises(InputError):
        Model.load(tmp_path / "model")


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_multimatchs_heads_read_the_same_layer(tiny_backbone, mode):
    outcome = tiny_run(tiny_backbone, {**MULTIMATCH, "training": {"mode": mode}})
    assert outcome.model.facts.layers == [1.0] * 3
