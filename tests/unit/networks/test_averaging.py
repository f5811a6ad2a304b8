"""The running average of weights."""

import pytest
import torch

from jointmatch.networks import Averaged, decay_within


def weight(value):
    module = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(module.weight, value)
    return module


@pytest.mark.parametrize(
    ("step", "decay", "average"),
    [(0, 0.9, 1.9), (8, 0.9, 1.5), (81, 0.9, 1.1), (1000, 0.9, 1.1), (1000, 0.5, 1.5), (0, 0.05, 1.95)],
)
def test_the_average_moves_from_one_towards_two(step, decay, average):
    """d = min(decay, (1 + t) / (10 + t)): t = 0 gives 0.1, t = 8 gives 0.5, t = 81 gives 82/91 > 0.9.
    1 d + 2 (1 - d) = 2 - d.
    """
    averaged = Averaged(weight(1.0), decay)
    averaged.update(weight(2.0), step)
    torch.testing.assert_close(averaged.module.weight, torch.tensor([[average]]))


def test_without_warm_up_the_start_is_forgotten_no_sooner_than_what_follows():
    """Decay 0.9 from the first step: 1 -> 0.9 + 0.2 = 1.1 -> 0.99 + 0.2 = 1.19."""
    averaged = Averaged(weight(1.0), 0.9, warmup=False)
    averaged.update(weight(2.0), 0)
    torch.testing.assert_close(averaged.module.weight, torch.tensor([[1.1]]))
    averaged.update(weight(2.0), 1)
    torch.testing.assert_close(averaged.module.weight, torch.tensor([[1.19]]))


@pytest.mark.parametrize(
    ("steps", "decay"), [(800, 0.99), (4000, 0.99), (400, 0.98), (100, 0.92), (16, 0.5), (8, 0.0), (3, 0.0)]
)
def test_short_training_does_not_end_with_its_start(steps, decay):
    """1 - 8 / steps, where that is below 0.99 and not below 0: 400 steps give 0.98."""
    assert decay_within(steps, 0.99) == pytest.approx(decay)


def test_two_updates_in_a_row():
    """Decay 0.5 at late steps: 1 -> 0.5 + 1 = 1.5 -> 0.75 + 2 = 2.75."""
    averaged = Averaged(weight(1.0), 0.5)
    averaged.update(weight(2.0), 1000)
    averaged.update(weight(4.0), 1001)
    torch.testing.assert_close(averaged.module.weight, torch.tensor([[2.75]]))


def test_the_copy_is_its_own_and_learns_nothing():
    module = weight(1.0).train()
    averaged = Averaged(module, 0.9)
    torch.nn.init.constant_(module.weight, 5.0)
    assert averaged.module.weight.item() == 1.0  # type: ignore[operator]
    assert not averaged.module.training
    assert not any(p.requires_grad for p in averaged.module.parameters())
    assert module.training
    assert module.weight.requires_grad
