"""Two voters: every case, and the cuts by hand."""

import pytest
import torch

from jointmatch.selection import agreement_cuts, vote


@pytest.mark.parametrize(
    ("labels", "above", "target", "weight"),
    [
        ((1, 1), (True, True), 1, 1.0),
        ((1, 1), (True, False), 1, 3.0),
        ((1, 1), (False, True), 1, 3.0),
        ((1, 1), (False, False), None, 0.0),
        ((0, 2), (True, True), None, 0.0),
        ((0, 2), (True, False), 0, 3.0),
        ((0, 2), (False, True), 2, 3.0),
        ((0, 2), (False, False), None, 0.0),
    ],
)
def test_every_case_of_two_votes(labels, above, target, weight):
    targets, weights = vote(
        (torch.tensor([[labels[0]]]), torch.tensor([[labels[1]]])),
        (torch.tensor([[above[0]]]), torch.tensor([[above[1]]])),
        3.0,
    )
    assert weights.tolist() == [[weight]]
    assert target is None or targets.tolist() == [[target]]


MARGINS = torch.tensor(
    [
        [[1.0, -1.0], [2.0, -2.0], [-3.0, 3.0], [2.0, 2.0]],
        [[5.0, -5.0], [4.0, -4.0], [6.0, -6.0], [2.0, 2.0]],
        [[9.0, -9.0], [-7.0, 7.0], [-8.0, 8.0], [2.0, 2.0]],
    ]
)
LABELS = torch.tensor([[0, 0, 1, -1], [0, 0, 0, -1], [0, 1, 1, -1]])
VOTERS = torch.tensor([[1, 2], [2, 0], [0, 1]])


def test_a_cut_is_a_quantile_of_both_voters_margins_on_texts_they_agree_on():
    """Head 0 by 1 and 2, agreed on text 0: class 0 margins 5 9, median 7; class 1 nowhere, 0.
    Head 1 by 2 and 0, on texts 0 and 2: class 0, 9 1, 5; class 1, 8 3, 5.5.
    Head 2 by 0 and 1, on texts 0 and 1: class 0, 1 2 5 4, 3; class 1 nowhere. Text 3 was never seen.
    """
    assert agreement_cuts(MARGINS, LABELS, VOTERS, 0.5).tolist() == [[7.0, 0.0], [5.0, 5.5], [3.0, 0.0]]


def test_quantiles_are_interpolated():
    """Of 1 2 4 5 the quantile 0.05 lies 0.15 of the way from 1 to 2."""
    torch.testing.assert_close(agreement_cuts(MARGINS, LABELS, VOTERS, 0.05)[2, 0], torch.tensor(1.15))


def test_a_cut_may_be_negative():
    """A class that is on top now may have been behind before."""
    assert agreement_cuts(-MARGINS, LABELS, VOTERS, 0.5)[0, 0].item() == -7.0
