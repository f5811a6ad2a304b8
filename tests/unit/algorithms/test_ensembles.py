"""Two networks that know nothing of each other."""

import pytest
import torch

from jointmatch.algorithms import ALGORITHMS
from jointmatch.types import Step, Task


@pytest.mark.parametrize("name", ["fixmatch", "freematch"])
def test_each_network_of_an_ensemble_is_what_it_would_be_alone(name):
    together = ALGORITHMS[f"{name}ensemble"](Task(4, 2))
    alone = [ALGORITHMS[name](Task(4, 1)) for _ in range(2)]
    draw = torch.Generator().manual_seed(0)
    for number in range(3):
        weak, strong = 4 * torch.randn(2, 2, 20, 4, generator=draw)
        step = Step(torch.arange(20), number)
        labels = together.pseudo_label(weak, step)
        loss = together.unsupervised_loss(strong, labels, step)
        for i, rule in enumerate(alone):
            own = rule.pseudo_label(weak[i : i + 1], step)
            for field in ("targets", "selected", "weights"):
                assert torch.equal(getattr(labels, field)[i : i + 1], getattr(own, field))
            torch.testing.assert_close(loss[i : i + 1], rule.unsupervised_loss(strong[i : i + 1], own, step))


@pytest.mark.parametrize("name", ["fixmatch", "freematch"])
def test_an_ensemble_is_its_method_with_two_networks_and_nothing_else(name):
    ensemble, method = ALGORITHMS[f"{name}ensemble"], ALGORITHMS[name]
    assert (method.networks, ensemble.networks) == (1, 2)
    assert issubclass(ensemble, method)
    assert "__init__" not in vars(ensemble)
