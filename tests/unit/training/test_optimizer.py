"""Parameter groups, the schedule, and clipping."""

import pytest
import torch

from jointmatch.algorithms import build
from jointmatch.config import AugmentConfig, TrainingConfig
from jointmatch.networks import Encoder, Heads, HeadShape, Networks, find_backbone, load_transformer
from jointmatch.training import FullLearner, Views
from jointmatch.training.optimizer import build_optimizer, clip, rate_factor, set_rates
from jointmatch.types import Task
from tests.unit.training.toy import CLASSES, topic_splits, toy_learner


@pytest.fixture(scope="module")
def full_learner(tiny_backbone):
    encoders = [Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0], "mean") for _ in range(2)]
    encoders[0].freeze_embeddings()
    networks = Networks(encoders, Heads(HeadShape(16, 3), 2))
    return FullLearner(topic_splits(), networks, None, Views(AugmentConfig(), 0), torch.device("cpu"), None)  # type: ignore[arg-type]


def facts(optimizer):
    return [(group["lr"], group["weight_decay"]) for group in optimizer.param_groups]


def test_encoder_and_heads_have_their_rates_and_vectors_no_decay(full_learner):
    config = TrainingConfig(learning_rate=1e-5, head_learning_rate=1e-3, weight_decay=0.1)
    optimizer = build_optimizer(full_learner, config)
    assert facts(optimizer) == [(1e-5, 0.1), (1e-5, 0.0), (1e-3, 0.1), (1e-3, 0.0)]
    for group in optimizer.param_groups:
        assert all((p.ndim > 1) is (group["weight_decay"] > 0) for p in group["params"])


def test_every_trained_parameter_is_in_exactly_one_group_and_no_frozen_one(full_learner):
    optimizer = build_optimizer(full_learner, TrainingConfig())
    grouped = [id(p) for group in optimizer.param_groups for p in group["params"]]
    trained = [id(p) for p in full_learner.networks.parameters() if p.requires_grad]
    assert sorted(grouped) == sorted(trained)
    assert len(trained) == len(list(full_learner.networks.parameters())) - 1


def test_without_a_rate_of_their_own_heads_take_the_encoders():
    optimizer = build_optimizer(toy_learner(), TrainingConfig(learning_rate=0.5, weight_decay=0.1))
    assert facts(optimizer) == [(0.5, 0.1), (0.5, 0.0)]


@pytest.mark.parametrize("step", [0, 5, 99])
def test_a_constant_schedule_is_one_throughout(step):
    assert rate_factor(step, TrainingConfig(steps=100, schedule="constant")) == 1.0


@pytest.mark.parametrize(("step", "factor"), [(0, 1.0), (50, 0.55), (75, 0.325), (100, 0.1)])
def test_a_linear_schedule_falls_to_the_final_rate(step, factor):
    """1 - 0.9 * step / 100: 0.55 half way, 0.325 at three quarters, 0.1 at the end."""
    config = TrainingConfig(steps=100, schedule="linear", final_rate=0.1)
    assert rate_factor(step, config) == pytest.approx(factor)


@pytest.mark.parametrize(("step", "factor"), [(0, 0.25), (1, 0.5), (3, 1.0), (4, 1.0), (8, 0.5), (12, 0.0)])
def test_warm_up_rises_from_the_first_step_and_the_fall_begins_after_it(step, factor):
    """Four steps of warm-up: 1/4, 2/4, 3/4, 4/4; then eight steps down to nothing, half way at step 8."""
    config = TrainingConfig(steps=12, warmup_steps=4, schedule="linear", final_rate=0.0)
    assert rate_factor(step, config) == pytest.approx(factor)


def test_rates_scale_from_the_base_and_do_not_compound(full_learner):
    config = TrainingConfig(learning_rate=1.0, head_learning_rate=4.0)
    optimizer = build_optimizer(full_learner, config)
    for factor in (0.5, 0.25):
        set_rates(optimizer, factor)
    assert [group["lr"] for group in optimizer.param_groups] == [0.25, 0.25, 1.0, 1.0]


def test_each_network_is_clipped_on_its_own():
    """(3, 4) has length 5 and is cut to length 1: (0.6, 0.8); (0.3, 0.4) is short enough and stays."""
    a, b = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(2))
    a.grad, b.grad = torch.tensor([3.0, 4.0]), torch.tensor([0.3, 0.4])
    clip([[a], [b]], 1.0)
    torch.testing.assert_close(a.grad, torch.tensor([0.6, 0.8]), atol=1e-5, rtol=0)
    torch.testing.assert_close(b.grad, torch.tensor([0.3, 0.4]))


def test_a_norm_of_zero_clips_nothing():
    a = torch.nn.Parameter(torch.zeros(1))
    a.grad = torch.tensor([30.0])
    clip([[a]], 0.0)
    assert a.grad.item() == 30.0


def test_what_an_algorithm_learns_has_a_group_and_a_rate_of_its_own():
    rule = build("sat", Task(CLASSES, 2), {"ranker_learning_rate": 0.25})
    config = TrainingConfig(learning_rate=0.5, weight_decay=0.1)
    optimizer = build_optimizer(toy_learner(), config, rule)
    groups = optimizer.param_groups
    found = {id(p): (group["base_lr"], group["weight_decay"]) for group in groups for p in group["params"]}
    for parameter in rule.parameters():
        assert found[id(parameter)] == (0.25, 0.1 if parameter.ndim > 1 else 0.0)
    assert len(found) == len(list(rule.parameters())) + len(list(toy_learner().networks.parameters()))
