"""Two networks, five texts: only what both say, and both surely, is kept."""

import torch

from jointmatch.selection import AgreedThreshold, unanimous


def probs(*first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1)


def test_all_networks_must_give_the_same_label():
    assert unanimous(torch.tensor([[0, 1, 2], [0, 1, 1], [0, 2, 2]])).tolist() == [True, False, False]


def test_one_alone_agrees_with_itself():
    assert unanimous(torch.tensor([[0, 1, 2]])).all()


def test_a_text_is_kept_where_both_agree_and_both_reach_the_threshold():
    """tau 0.75: both 0 and sure; both 0 but one at 0.7; they differ, both sure; both 1 and sure; 0.75 is enough."""
    given = probs([0.9, 0.9, 0.9, 0.1, 0.75], [0.8, 0.7, 0.1, 0.2, 0.75])
    kept = AgreedThreshold(0.75, 2, 2)(given)
    assert kept.tolist() == [[True, False, False, True, True]] * 2


def test_the_first_network_must_be_sure_too():
    assert not AgreedThreshold(0.75, 2, 2)(probs([0.7], [0.9])).any()


def test_it_is_the_likeliest_classes_that_must_agree():
    """Both say 0, though they differ in the least likely; then both find 2 the least likely, but say 0 and 1."""
    given = torch.tensor([[[0.8, 0.15, 0.05], [0.8, 0.2, 0.0]], [[0.8, 0.05, 0.15], [0.2, 0.8, 0.0]]])
    assert AgreedThreshold(0.75, 3, 2)(given).tolist() == [[True, False]] * 2
