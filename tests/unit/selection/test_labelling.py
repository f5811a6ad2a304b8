"""Who teaches whom."""

import pytest
import torch

from jointmatch.selection import LABELLING, cross, others, own


@pytest.mark.parametrize(
    ("labels", "taught"),
    [
        ([[0, 1]], [[0, 1]]),
        ([[0, 1], [2, 3]], [[2, 3], [0, 1]]),
        ([[0], [1], [2]], [[1], [2], [0]]),
    ],
)
def test_each_network_is_taught_by_the_next_and_the_last_by_the_first(labels, taught):
    assert cross(torch.tensor(labels)).tolist() == taught


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_under_own_labels_nothing_moves(networks):
    labels = torch.arange(networks * 2).view(networks, 2)
    assert own(labels).tolist() == labels.tolist()


def test_crossing_moves_networks_and_never_texts_or_classes():
    probs = torch.tensor([[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.6, 0.4]]])
    assert cross(probs).tolist() == [probs[1].tolist(), probs[0].tolist()]


def test_three_networks_are_each_taught_by_the_mean_of_the_other_two():
    """Of 0.2, 0.4, 0.9: (0.4 + 0.9) / 2 = 0.65, (0.2 + 0.9) / 2 = 0.55, (0.2 + 0.4) / 2 = 0.3."""
    torch.testing.assert_close(others(torch.tensor([[0.2], [0.4], [0.9]])), torch.tensor([[0.65], [0.55], [0.3]]))


def test_of_two_networks_the_others_are_the_other_and_one_alone_is_its_own():
    two = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    assert others(two).tolist() == cross(two).tolist()
    assert others(two[:1]).tolist() == two[:1].tolist()


def test_every_rule_can_be_named():
    assert {"own": own, "cross": cross, "others": others} == LABELLING
