"""Which texts are kept by their loss, and whose choice a network learns from."""

import pytest
import torch

from jointmatch.selection import exchanged, exchanged_where_labels_differ, keep_share, smallest

LOSSES = torch.tensor([[0.5, 0.1, 0.4, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4, 0.5]])
EVERY = torch.ones(2, 5, dtype=torch.bool)


@pytest.mark.parametrize(("progress", "share"), [(0.0, 1.0), (0.025, 0.9), (0.05, 0.8), (0.06, 0.8), (0.99, 0.8)])
def test_the_share_kept_falls_in_a_straight_line_and_stays(progress, share):
    """r 0.2, T_k 0.05: 1 - 0.2 * 0.025 / 0.05 = 0.9 half-way, 1 - 0.2 = 0.8 from T_k on."""
    assert keep_share(0.2, 0.05, progress) == pytest.approx(share)


def test_without_a_warm_up_the_share_is_small_from_the_first_step():
    assert keep_share(0.3, 0.0, 0.0) == pytest.approx(0.7)


def test_each_network_keeps_its_own_smallest_losses_rounded_down():
    """0.79 * 5 = 3.95: three. Of the first network 0.1, 0.2, 0.3; of the second 0.1, 0.2, 0.3."""
    kept = smallest(LOSSES, 0.79, EVERY)
    assert kept.tolist() == [[False, True, False, True, True], [True, True, True, False, False]]


def test_a_share_that_is_a_whole_number_of_texts_is_not_cut():
    """0.8 * 5 = 4, 0.6 * 5 = 3, and all at 1."""
    assert [int(smallest(LOSSES, share, EVERY)[0].sum()) for share in (0.6, 0.8, 1.0)] == [3, 4, 5]


def test_a_share_of_less_than_one_text_is_all_of_them():
    """0.19 * 5 = 0.95, cut to none: all five."""
    assert smallest(LOSSES, 0.19, EVERY).all()


def test_only_the_given_texts_are_counted_and_ranked():
    """Of texts 0, 2, 3 with 0.5, 0.4, 0.3, two thirds are two: 2 and 3. Of none, none."""
    among = torch.tensor([[True, False, True, True, False], [False] * 5])
    assert smallest(LOSSES, 0.67, among).tolist() == [[False, False, True, True, False], [False] * 5]


def test_a_network_learns_from_what_the_next_one_picked():
    """A share of 0.2 of five is one: the first picks text 1, the second text 0, the third text 4."""
    losses = torch.cat([LOSSES, LOSSES[1:].flip(-1)])
    picked = exchanged(losses, 0.2, EVERY[:1].expand(3, -1))
    assert picked.int().argmax(-1).tolist() == [0, 4, 1]
    assert picked.sum(-1).tolist() == [1, 1, 1]


@pytest.mark.parametrize("all_if_none", [True, False])
def test_small_losses_are_exchanged_among_texts_whose_labels_differ(all_if_none):
    """Labels differ on 0, 2, 3. Two of three: the first keeps 3 and 2 (0.3, 0.4), the second 0 and 2 (0.1, 0.3)."""
    labels = torch.tensor([[0, 1, 0, 1, 2], [1, 1, 1, 0, 2]])
    picked = exchanged_where_labels_differ(LOSSES, labels, 0.67, EVERY, all_if_none)
    assert picked.tolist() == [[True, False, True, False, False], [False, False, True, True, False]]


@pytest.mark.parametrize("all_if_none", [True, False])
def test_where_no_labels_differ_every_usable_text_counts_or_none(all_if_none):
    labels = torch.tensor([[0, 1, 0, 1, 2]] * 2)
    usable = torch.tensor([[True, True, False, True, True]] * 2)
    picked = exchanged_where_labels_differ(LOSSES, labels, 0.4, usable, all_if_none)
    assert picked.tolist() == (usable & all_if_none).tolist()


def test_a_text_that_is_not_usable_does_not_count_as_one_whose_labels_differ():
    """Only text 0 differs and it is not usable: as if none did."""
    labels = torch.tensor([[0, 1, 0, 1, 2], [1, 1, 0, 1, 2]])
    usable = torch.tensor([[False, True, True, True, True]] * 2)
    assert exchanged_where_labels_differ(LOSSES, labels, 1.0, usable, True).tolist() == usable.tolist()


def test_of_three_networks_one_that_differs_is_enough_whichever_it_is():
    """Text 0: the third differs; text 1: the second; text 2: the first; text 3: none."""
    labels = torch.tensor([[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
    picked = exchanged_where_labels_differ(torch.zeros(3, 4), labels, 1.0, torch.ones(3, 4, dtype=torch.bool), False)
    assert picked.tolist() == [[True, True, True, False]] * 3
