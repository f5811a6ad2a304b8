"""Counts over pseudo-labels, by hand."""

import copy

import pytest
import torch

from jointmatch.training.statistics import PseudoLabelCounts
from jointmatch.types import PseudoLabels

# Two networks, four texts. Agreed on texts 0 and 2. Selected: f texts 0, 1, 2 and g texts 0, 3.
LABELS = PseudoLabels(
    torch.tensor([[0, 1, 2, 0], [0, 0, 2, 1]]),
    torch.tensor([[True, True, True, False], [True, False, False, True]]),
    torch.ones(2, 4),
)
TRUTH = torch.tensor([0, 2, -1, 1])


@pytest.fixture
def counts():
    filled = PseudoLabelCounts(3)
    filled.add_labels(LABELS, TRUTH)
    return filled


def test_shares_are_of_all_labels_given(counts):
    """5 of 8 selected; agreed on 2 of 4 texts; by class 2 of 8 (0, 0), 2 of 8 (1, 1), 1 of 8."""
    record = counts.flush()
    assert record["selected"] == 5 / 8
    assert record["agreement"] == 0.5
    assert record["selected_per_class"] == [2 / 8, 2 / 8, 1 / 8]


def test_accuracy_is_of_the_selected_with_a_known_truth(counts):
    """Checked: f 0 right, 1 wrong (truth 2), text 2 unknown; g 0 right, text 3 right: 3 of 4.
    By class: 0 two of two, 1 one of two, 2 never checked.
    """
    record = counts.flush()
    assert record["pseudo_label_accuracy"] == 0.75
    assert record["pseudo_label_accuracy_per_class"] == [1.0, 0.5, None]


def test_batches_add_up(counts):
    """A second batch of 4 texts with nothing selected: 5 of 16; agreement stays one half."""
    nothing = PseudoLabels(LABELS.targets, torch.zeros(2, 4, dtype=torch.bool), LABELS.weights)
    counts.add_labels(nothing, TRUTH)
    record = counts.flush()
    assert record["selected"] == 5 / 16
    assert record["agreement"] == 0.5


def test_the_loss_is_the_mean_since_the_last_flush(counts):
    """(1 + 3) / 2 = 2, then 5."""
    counts.add_loss(torch.tensor(1.0))
    counts.add_loss(torch.tensor(3.0))
    assert counts.flush()["loss"] == 2.0
    counts.add_loss(torch.tensor(5.0))
    assert counts.flush() == {"loss": 5.0}
    assert counts.flush() == {}


def test_without_known_truths_no_accuracy_is_claimed():
    counts = PseudoLabelCounts(3)
    counts.add_labels(LABELS, torch.full((4,), -1))
    assert not any("accuracy" in name for name in counts.flush())


def test_soft_targets_count_as_their_largest_class():
    soft = PseudoLabels(torch.nn.functional.one_hot(LABELS.targets, 3) * 0.8 + 0.1, LABELS.selected, LABELS.weights)
    hard, counts = PseudoLabelCounts(3), PseudoLabelCounts(3)
    hard.add_labels(LABELS, TRUTH)
    counts.add_labels(soft, TRUTH)
    assert counts.flush() == hard.flush()


def test_three_networks_agree_only_when_all_do():
    """Labels 0 0 0 agree, 0 0 1 do not: 1 of 2 texts."""
    counts = PseudoLabelCounts(2)
    every = torch.ones(3, 2, dtype=torch.bool)
    counts.add_labels(PseudoLabels(torch.tensor([[0, 0], [0, 0], [0, 1]]), every, every.float()), torch.tensor([0, 0]))
    assert counts.flush()["agreement"] == 0.5


def test_batches_that_wait_are_counted_before_a_state_is_kept_and_forgotten_when_one_is_taken_up(counts):
    """Seen so far: 8. A state taken up with one batch waiting replaces it: 8 again, not 16."""
    kept = {name: value.clone() for name, value in counts.state_dict().items()}
    assert kept["seen"] == 8
    counts.add_labels(LABELS, TRUTH)
    counts.load_state_dict(kept)
    assert counts.state_dict()["seen"] == 8


def test_more_batches_than_may_wait_are_all_counted(counts):
    """40 batches more of different sizes, all selected: 8 + 20 * 8 + 20 * 2 seen, 5 + 200 selected."""
    every = PseudoLabels(LABELS.targets, torch.ones(2, 4, dtype=torch.bool), LABELS.weights)
    for _ in range(20):
        counts.add_labels(every, TRUTH)
        counts.add_labels(every.part(slice(0, 1)), TRUTH[:1])
    assert counts.state_dict()["seen"] == 208
    assert counts.flush()["selected"] == 205 / 208


def test_a_copy_counts_its_own(counts):
    """One batch of 8 waits in both; then another in the copy alone."""
    other = copy.deepcopy(counts)
    other.add_labels(LABELS, TRUTH)
    assert other.state_dict()["seen"] == 16
    assert counts.state_dict()["seen"] == 8


def test_class_ids_and_distributions_may_come_by_turns(counts):
    """The same labels as distributions: twice as many of everything."""
    soft = PseudoLabels(torch.nn.functional.one_hot(LABELS.targets, 3).float(), LABELS.selected, LABELS.weights)
    counts.add_labels(soft, TRUTH)
    record = counts.flush()
    assert record["selected"] == 5 / 8
    assert record["selected_per_class"] == [2 / 8, 2 / 8, 1 / 8]
    assert record["pseudo_label_accuracy"] == 0.75
