"""DeCrisisMB by hand: two classes, two texts of each at a step, a memory of three.

Class 0 at step 0: 0.95, 0.92, 0.1, 0.6 for texts 7, 3, 5, 1: 7 and 3 are remembered for class 0, 5 (0.9) for class 1.
At step 1: 0.02, 0.05, 0.99, 0.5 for texts 2, 4, 6, 8: class 1 gets 2 and 4, class 0 gets 6.
"""

import pytest
import torch

from jointmatch.algorithms import DeCrisisMB
from jointmatch.types import Step, Task

FIRST = ([7, 3, 5, 1], [0.95, 0.92, 0.1, 0.6])
SECOND = ([2, 4, 6, 8], [0.02, 0.05, 0.99, 0.5])


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


def rule(networks=1, **settings):
    return DeCrisisMB(Task(2, networks, pool_size=10), **{"bank_size": 3, "per_class": 2} | settings)


def step(texts, number):
    return Step(torch.tensor(texts), number, 2000)


def label(bank, batch, number, networks=1):
    texts, first_class = batch
    return bank.pseudo_label(logits([first_class] * networks), step(texts, number))


def remembered(found):
    return [found.bank.texts[c, : found.bank.filled[c]].tolist() for c in range(2)]


def test_until_every_class_has_enough_nothing_is_trained_on():
    own = rule()
    labels = label(own, FIRST, 0)
    assert remembered(own) == [[7, 3], [5]]
    assert labels.rows is None
    assert not labels.selected.any()
    assert labels.selected.shape == (1, 4)


@pytest.mark.parametrize("networks", [1, 2])
def test_then_as_many_of_each_class_are_drawn_from_the_memory(networks):
    own = rule(networks)
    label(own, FIRST, 0, networks)
    labels = label(own, SECOND, 1, networks)
    assert remembered(own) == [[6, 7, 3], [2, 4, 5]]
    assert labels.targets.tolist() == [[0, 0, 1, 1]] * networks
    assert labels.selected.dtype == torch.bool
    assert labels.selected.all()
    assert labels.weights.tolist() == [[1.0] * 4] * networks
    assert labels.weights.is_floating_point()
    assert labels.rows is not None
    first, second = labels.rows[:2].tolist(), labels.rows[2:].tolist()
    assert len(set(first)) == len(set(second)) == 2
    assert set(first) <= {6, 7, 3}
    assert set(second) <= {2, 4, 5}


def test_a_batch_is_remembered_before_it_is_drawn_from():
    """Enough of both classes in the very first batch."""
    labels = label(rule(), ([0, 1, 2, 3], [0.99, 0.98, 0.01, 0.02]), 0)
    assert labels.rows is not None
    assert (sorted(labels.rows[:2].tolist()), sorted(labels.rows[2:].tolist())) == ([0, 1], [2, 3])


def test_confidence_of_just_tau_is_enough():
    own = rule(tau=0.75)
    label(own, ([4], [0.75]), 0)
    assert remembered(own) == [[4], []]


def test_several_networks_remember_what_their_mean_is_sure_of():
    """0.99 and 0.83 have a mean of 0.91, 0.99 and 0.79 one of 0.89."""
    own = rule(2)
    own.pseudo_label(logits([[0.99, 0.99], [0.83, 0.79]]), step([4, 5], 0))
    assert remembered(own) == [[4], []]


def test_the_draw_is_decided_by_the_step():
    drawn = []
    for number in (5, 5, 6, 7, 8):
        own = rule(bank_size=20)
        batch = (list(range(20)), [0.99] * 10 + [0.01] * 10)
        drawn.append(label(own, batch, number).rows.tolist())
    assert drawn[0] == drawn[1]
    assert len(set(map(tuple, drawn))) > 2


def test_batches_of_one_step_have_draws_of_their_own():
    drawn = []
    for turn in range(3):
        texts = torch.arange(20)
        labels = rule(bank_size=20).pseudo_label(logits([[0.99] * 10 + [0.01] * 10]), Step(texts, 5, 2000, turn, 3))
        drawn.append(labels.rows.tolist())
    assert len(set(map(tuple, drawn))) == 3


def test_the_loss_is_the_squared_error_times_a_weight_that_grows_over_a_thousand_steps():
    """Predictions 1/2: errors of 0.25; w_u 20 at step 100 is 2."""
    own = rule()
    label(own, FIRST, 0)
    labels = label(own, SECOND, 100)
    loss = own.unsupervised_loss(torch.zeros(1, 4, 2), labels, step(SECOND[0], 100))
    torch.testing.assert_close(loss, torch.tensor([2 * 0.25]))
    assert own.weight_at(step([0], 5000)) == 20.0
