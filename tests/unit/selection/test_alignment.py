"""Probabilities over the running class mean, made to sum to 1 again."""

from functools import partial

import torch

from jointmatch.selection import UniformAlignment, align

FIRST = torch.tensor([[[0.8, 0.2], [0.6, 0.4]]])  # mean (0.7, 0.3)
close = partial(torch.testing.assert_close, rtol=0, atol=1e-5)  # the class mean is kept off zero by 1e-6


def test_a_class_predicted_often_counts_less():
    """(0.8/0.7, 0.2/0.3) = (8/7, 2/3): (12, 7) / 19. (0.6/0.7, 0.4/0.3) = (6/7, 4/3): (9, 14) / 23."""
    aligned = align(FIRST, torch.tensor([[0.7, 0.3]]))
    close(aligned, torch.tensor([[[12 / 19, 7 / 19], [9 / 23, 14 / 23]]]))


def test_the_class_mean_starts_at_the_first_batch_s():
    rule = UniformAlignment(2, 1, momentum=0.999)
    torch.testing.assert_close(rule(FIRST), align(FIRST, torch.tensor([[0.7, 0.3]])))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.7, 0.3]]))


def test_a_later_batch_counts_before_it_is_aligned():
    """m 0.75: 0.75 * (0.7, 0.3) + 0.25 * (0.3, 0.7) = (0.6, 0.4). (0.3/0.6, 0.7/0.4) = (2, 7) / 4: (2, 7) / 9."""
    rule = UniformAlignment(2, 1, momentum=0.75)
    rule(FIRST)
    aligned = rule(torch.tensor([[[0.3, 0.7]]]))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.6, 0.4]]))
    close(aligned, torch.tensor([[[2 / 9, 7 / 9]]]))


def test_equally_frequent_classes_stay_as_they_are():
    probs = torch.tensor([[[0.9, 0.1], [0.1, 0.9]]])
    torch.testing.assert_close(UniformAlignment(2, 1, momentum=0.9)(probs), probs)


def test_a_class_nobody_predicts_does_not_break_the_others():
    aligned = UniformAlignment(3, 2, momentum=0.9)(torch.tensor([0.5, 0.5, 0.0]).expand(2, 4, 3))
    torch.testing.assert_close(aligned, torch.tensor([0.5, 0.5, 0.0]).expand(2, 4, 3))


def test_each_network_has_its_own_class_mean():
    rule = UniformAlignment(2, 2, momentum=0.9)
    aligned = rule(torch.cat([FIRST, FIRST.flip(-1)]))
    torch.testing.assert_close(aligned[0], aligned[1].flip(-1))
    torch.testing.assert_close(rule.class_mean, torch.tensor([[0.7, 0.3], [0.3, 0.7]]))
