"""Equation 4, the published code's variant of it, and neither."""

import pytest
import torch

from jointmatch.selection import confidence_disagreement, cross, label_disagreement, mean_one, over_selected, uniform


def by_label(labels: list[list[int]], delta: float) -> torch.Tensor:
    """Each network held against the next."""
    return label_disagreement(torch.tensor(labels), cross(torch.tensor(labels)), delta)


def by_confidence(sure: list[list[bool]], delta: float) -> torch.Tensor:
    return confidence_disagreement(torch.tensor(sure), cross(torch.tensor(sure)), delta)


def test_uniform_counts_every_text_once_selected_or_not():
    weights = uniform(torch.tensor([[True, False]]))
    assert weights.tolist() == [[1.0, 1.0]]
    assert weights.is_floating_point()


def test_two_networks_weigh_a_text_by_delta_where_their_labels_differ():
    """Labels (0, 1, 2) and (0, 2, 2): agree, differ, agree; delta 0.9 gives 0.1, 0.9, 0.1 for both."""
    weights = by_label([[0, 1, 2], [0, 2, 2]], 0.9)
    torch.testing.assert_close(weights, torch.tensor([[0.1, 0.9, 0.1]] * 2))


def test_one_network_never_disagrees_with_itself():
    """1 - 0.9 = 0.1 everywhere."""
    torch.testing.assert_close(by_label([[0, 1]], 0.9), torch.tensor([[0.1, 0.1]]))


def test_of_three_networks_each_is_compared_with_its_teacher():
    """Labels 0, 0, 1: the first agrees with the second; the second and third, and the third and first, differ."""
    weights = by_label([[0], [0], [1]], 0.75)
    assert weights.tolist() == [[0.25], [0.75], [0.75]]


@pytest.mark.parametrize(
    ("f", "g", "weight"), [(True, True, 0.25), (True, False, 0.75), (False, True, 0.75), (False, False, 0.0)]
)
def test_confidence_disagreement_means_exactly_one_is_confident(f, g, weight):
    """delta = 0.75: one confident 0.75, both 1 - 0.75 = 0.25, none 0."""
    assert by_confidence([[f], [g]], 0.75).tolist() == [[weight], [weight]]


def test_one_network_has_both_or_none_confident():
    assert by_confidence([[True, False]], 0.75).tolist() == [[0.25, 0.0]]


def test_of_three_networks_confidence_is_compared_with_the_teacher():
    """Confident, confident, not: (0, 1) both 0.25; (1, 2) and (2, 0) one of two, 0.75."""
    assert by_confidence([[True], [True], [False]], 0.75).tolist() == [[0.25], [0.75], [0.75]]


def test_labels_and_confidence_can_disagree_about_disagreement():
    """Same label, one sure: 0.25 by label, 0.75 by confidence. Other label, both sure: 0.75 and 0.25."""
    assert by_label([[0, 0], [0, 1]], 0.75).tolist() == [[0.25, 0.75]] * 2
    assert by_confidence([[True, True], [False, True]], 0.75).tolist() == [[0.75, 0.25]] * 2


def test_delta_may_be_a_tensor_that_changes_as_training_goes_on():
    assert by_label([[0, 0], [0, 1]], torch.tensor(0.75)).tolist() == [[0.25, 0.75]] * 2  # type: ignore[arg-type]


def test_weights_of_mean_one_keep_their_proportions_and_count_selected_texts_only():
    """0.1 and 0.9 selected: mean 0.5, so twice as much; the third, unselected, is scaled alike."""
    weights = torch.tensor([[0.1, 0.9, 0.1], [0.1, 0.1, 0.9]])
    selected = torch.tensor([[True, True, False], [True, True, True]])
    scaled = mean_one(weights, selected)
    torch.testing.assert_close(scaled[0], torch.tensor([0.2, 1.8, 0.2]))
    torch.testing.assert_close(scaled[1], torch.tensor([0.3, 0.3, 2.7]) / 1.1)


def test_weights_without_any_selected_text_or_all_zero_stay_as_they_are():
    weights = torch.tensor([[0.1, 0.9], [0.0, 0.0]])
    assert mean_one(weights, torch.tensor([[False, False], [True, True]])).tolist() == weights.tolist()


def test_over_selected_turns_a_batch_mean_into_one_over_the_selected():
    """Two of four selected weigh 4 / 2 = 2: the mean of 1 and 3 is (2 * 1 + 2 * 3) / 4 = 2. Of none, no infinity."""
    selected = torch.tensor([[True, False, True, False], [False] * 4])
    weights = over_selected(selected)
    assert weights.tolist() == [[2.0] * 4, [4.0] * 4]
    values = torch.tensor([1.0, 100.0, 3.0, 100.0])
    assert (values * selected * weights).mean(-1).tolist() == [2.0, 0.0]
