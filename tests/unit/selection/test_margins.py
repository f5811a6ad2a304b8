"""Margins of logits, by hand."""

import pytest
import torch

from jointmatch.selection import RunningMargins, last_places, margin, percentile_cut, pseudo_margins


def test_the_top_class_is_ahead_of_the_second_and_the_others_are_behind_the_top():
    """3 1 -2: 3 - 1 = 2, 1 - 3 = -2, -2 - 3 = -5. All negative, -1 -4 -2: -1 + 2 = 1, -4 + 1 = -3, -2 + 1 = -1."""
    found = pseudo_margins(torch.tensor([[[3.0, 1.0, -2.0], [-1.0, -4.0, -2.0]]]))
    assert found.tolist() == [[[2.0, -2.0, -5.0], [1.0, -3.0, -1.0]]]


def test_two_classes_on_top_are_ahead_of_each_other_by_nothing():
    assert pseudo_margins(torch.tensor([2.0, 2.0, 0.0])).tolist() == [0.0, 0.0, -2.0]


@pytest.mark.parametrize("classes", [2, 150])
def test_it_is_what_is_left_of_the_largest_other_one(classes):
    logits = torch.randn(3, 7, classes, generator=torch.Generator().manual_seed(0))
    for c in range(classes):
        rest = torch.cat([logits[..., :c], logits[..., c + 1 :]], -1).amax(-1)
        torch.testing.assert_close(pseudo_margins(logits)[..., c], logits[..., c] - rest)
        torch.testing.assert_close(margin(logits, torch.full((3, 7), c)), logits[..., c] - rest)


def test_the_cut_is_the_margin_at_a_share_of_the_chosen_texts():
    """Of 5 1 9 3 chosen 5 1 3, in order 1 3 5: number floor(0.5 * 3) = 1 is 3, floor(0.9 * 3) = 2 is 5, 0 is 1.
    At percentile 1 the largest; of none, minus infinity.
    """
    margins = torch.tensor([[5.0, 1.0, 9.0, 3.0]])
    chosen = torch.tensor([[True, True, False, True]])
    found = {p: percentile_cut(margins, chosen, p).tolist() for p in (0.0, 0.3, 0.5, 0.9, 1.0)}
    assert found == {0.0: [[1.0]], 0.3: [[1.0]], 0.5: [[3.0]], 0.9: [[5.0]], 1.0: [[5.0]]}
    assert percentile_cut(margins, ~chosen & False, 0.5).tolist() == [[-torch.inf]]


def test_each_network_has_a_cut_of_its_own():
    margins = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert percentile_cut(margins, torch.tensor([[True, True], [True, False]]), 0.5).tolist() == [[2.0], [3.0]]


def test_of_a_pool_without_texts_the_cut_is_minus_infinity_for_every_network():
    none = torch.zeros(2, 0)
    assert percentile_cut(none, none.bool(), 0.5).tolist() == [[-torch.inf]] * 2


def test_a_running_margin_moves_less_at_each_visit():
    """d 0.8. First 10: 0.8 * 10 = 8; then 4: 0.4 * 4 + 0.6 * 8 = 6.4. The other text's first visit: 0.8 * 5 = 4."""
    running = RunningMargins(0.8, 1, 1, 3)
    assert running(torch.tensor([[[10.0]]]), torch.tensor([2])).item() == pytest.approx(8.0)
    second = running(torch.tensor([[[4.0], [5.0]]]), torch.tensor([2, 0]))
    torch.testing.assert_close(second, torch.tensor([[[6.4], [4.0]]]))
    torch.testing.assert_close(running.mean[0, :3, 0], torch.tensor([4.0, 0.0, 6.4]))


def test_with_a_smoothing_of_one_it_is_the_mean_of_all_visits():
    draws = torch.randn(6, 2, 4, 3, generator=torch.Generator().manual_seed(0))
    running = RunningMargins(1.0, 3, 2, 4)
    for draw in draws:
        last = running(draw, torch.arange(4))
    torch.testing.assert_close(last, draws.mean(0))


def test_texts_that_are_not_counted_leave_the_others_alone():
    running = RunningMargins(0.5, 1, 1, 2)
    running(torch.tensor([[[8.0], [6.0]]]), torch.tensor([0, 1]), torch.tensor([True, False]))
    assert running.mean[0, :, 0].tolist() == [4.0, 0.0, 0.0]
    assert running.visits.tolist() == [1.0, 0.0, 0.0]


def test_a_text_met_twice_in_a_batch_is_taken_as_met_last_and_once():
    """Texts 1 0 1: places 2 1 2. d 1: text 1 has 7, its second margin, after one visit."""
    index = torch.tensor([1, 0, 1])
    assert last_places(index, 3).tolist() == [2, 1, 2]
    running = RunningMargins(1.0, 1, 1, 3)
    assert running(torch.tensor([[[5.0], [6.0], [7.0]]]), index).flatten().tolist() == [7.0, 6.0, 7.0]
    assert running.mean[0, :3, 0].tolist() == [6.0, 7.0, 0.0]
    assert running.visits[:3].tolist() == [1.0, 1.0, 0.0]


def test_after_a_reset_nothing_is_known():
    running = RunningMargins(1.0, 1, 1, 1)
    running(torch.ones(1, 1, 1), torch.tensor([0]))
    running.reset()
    assert not any(buffer.any() for buffer in running.buffers())
