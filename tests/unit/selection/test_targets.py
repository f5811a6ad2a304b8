"""What a text is taught to be."""

import torch

from jointmatch.selection import mean_of_views, sharpen


def test_at_one_half_probabilities_are_squared_and_made_to_sum_to_one_again():
    """(0.5, 0.3, 0.2) squared: (0.25, 0.09, 0.04), sum 0.38."""
    sharp = sharpen(torch.tensor([0.5, 0.3, 0.2]), 0.5)
    torch.testing.assert_close(sharp, torch.tensor([25.0, 9.0, 4.0]) / 38)


def test_every_text_of_every_network_sums_to_one():
    """(0.5, 0.3, 0.2) as above; (0.8, 0.1, 0.1) squared: (0.64, 0.01, 0.01), sum 0.66."""
    rows = torch.tensor([[0.5, 0.3, 0.2], [0.8, 0.1, 0.1]])
    wanted = torch.tensor([[25 / 38, 9 / 38, 4 / 38], [64 / 66, 1 / 66, 1 / 66]])
    for probs, sharp in ((rows, wanted), (torch.stack([rows, rows.flip(0)]), torch.stack([wanted, wanted.flip(0)]))):
        torch.testing.assert_close(sharpen(probs, 0.5), sharp)


def test_it_is_the_softmax_of_the_logits_over_the_temperature():
    logits = torch.tensor([[1.0, -2.0, 0.5]])
    torch.testing.assert_close(sharpen(logits.softmax(-1), 0.85), (logits / 0.85).softmax(-1))


def test_at_one_nothing_changes():
    probs = torch.tensor([0.9, 0.1])
    assert sharpen(probs, 1.0) is probs


def test_the_mean_of_views_counts_the_first_once_and_each_later_one_by_its_weight():
    """Class 0 at 0.9, 0.6 and 0.3: weight 1 gives 1.8 / 3 = 0.6, weight 0.5 (0.9 + 0.45) / 2 = 0.675, weight 0 0.9."""
    p = torch.tensor([0.9, 0.6, 0.3]).reshape(3, 1, 1)
    logits = torch.stack([p, 1 - p], -1).log()
    for weight, wanted in ((1.0, 0.6), (0.5, 0.675), (0.0, 0.9)):
        torch.testing.assert_close(mean_of_views(logits, weight), torch.tensor([[[wanted, 1 - wanted]]]))
    torch.testing.assert_close(mean_of_views(logits), mean_of_views(logits, 1.0))


def test_the_mean_of_one_view_is_its_softmax():
    logits = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(mean_of_views(logits), logits.softmax(-1))
    torch.testing.assert_close(mean_of_views(logits[None], 7.0), logits.softmax(-1))
