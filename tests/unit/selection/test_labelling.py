"""Who teaches whom."""

import pytest
import torch

from jointmatch.selection import LABELLING, cross, own


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


def test_both_rules_can_be_named():
    assert (LABELLING["own"], LABELLING["cross"]) == (own, cross)
