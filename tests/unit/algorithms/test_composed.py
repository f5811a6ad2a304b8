"""Parts every composed method has: delta that adapts, alignment, more than two networks. By way of FixMatch."""

import pytest
import torch

from jointmatch.algorithms import Algorithm, FixMatch, JointMatch, build
from jointmatch.errors import ConfigError
from jointmatch.selection import Alignment
from jointmatch.types import Step, Task

STEP = Step(torch.arange(4))
PAIR = Task(num_classes=2, num_networks=2)


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


WEAK = logits([[0.9, 0.6, 0.7, 0.8], [0.9, 0.3, 0.8, 0.7]])  # labels 0 0 0 0 and 0 1 0 0: one of four differs


def weights(settings: dict, weak=WEAK, step=STEP, task=PAIR) -> torch.Tensor:
    rule = FixMatch(task, **{"tau": 0.0, "weighting": "disagreement", "delta": 0.9} | settings)
    return rule.pseudo_label(weak, step).weights


@pytest.mark.parametrize(
    ("rule", "delta"),
    [("constant", 0.9), ("time", 0.7), ("confidence", 0.9 - 0.4 * 0.0525), ("disagreement", 1 - 0.115)],
)
def test_delta_follows_its_rule(rule, delta):
    """Half of the training done: 0.9 - 0.4 / 2 = 0.7. Top probabilities 0.9 0.6 0.7 0.8 and 0.9 0.7 0.8 0.7, mean
    0.7625; running 0.9 * 0.5 + 0.1 * 0.7625 = 0.52625, 0.0525 of the way from chance to 1. Disagreed on a quarter:
    0.9 * 0.1 + 0.1 * 0.25 = 0.115.
    """
    found = weights({"delta_rule": rule}, step=Step(torch.arange(4), 2, 4))
    torch.testing.assert_close(found, torch.tensor([[1 - delta, delta, 1 - delta, 1 - delta]] * 2))


def test_delta_by_disagreement_of_confidence_counts_texts_of_which_one_is_sure():
    """tau 0.75: f sure of texts 0 and 3, g of 0 and 2: one of two on texts 2 and 3. 0.9 * 0.1 + 0.1 * 0.5 = 0.14."""
    found = weights({"delta_rule": "disagreement", "disagreement": "confidence", "tau": 0.75})
    torch.testing.assert_close(found, torch.tensor([[0.14, 0.0, 0.86, 0.86]] * 2))


def test_uniform_weights_ask_no_delta():
    assert weights({"weighting": "uniform", "delta_rule": "disagreement"}).tolist() == [[1.0] * 4] * 2


def test_normalized_weights_are_one_on_average_over_what_is_selected():
    """All four: 0.1 0.9 0.1 0.1, mean 0.3. With tau 0.65 g and f keep 0, 1, 2, 3 and 0, 2, 3: 0.1 each, so 1 each."""
    torch.testing.assert_close(weights({"normalize_weights": True})[0], torch.tensor([1.0, 9.0, 1.0, 1.0]) / 3)
    f = weights({"normalize_weights": True, "tau": 0.65})[0]
    torch.testing.assert_close(f, torch.tensor([1.0, 9.0, 1.0, 1.0]))


@pytest.mark.parametrize("delta", [0.5, 0.3])
def test_normalized_weights_at_one_half_are_uniform(delta):
    same = torch.allclose(weights({"normalize_weights": True, "delta": delta}), torch.ones(2, 4))
    assert same == (delta == 0.5)


def test_normalizing_counts_what_the_teacher_selects():
    """Cross labels, tau 0.85: f learns what g is sure of, text 0 alone, agreed on: its weight is 1."""
    rule = FixMatch(PAIR, tau=0.85, labelling="cross", weighting="disagreement", normalize_weights=True)
    weak = logits([[0.9, 0.9], [0.9, 0.3]])  # f sure of both, g of the first; they differ on the second
    labels = rule.pseudo_label(weak, Step(torch.arange(2)))
    torch.testing.assert_close(labels.weights, torch.tensor([[1.0, 9.0], [0.2, 1.8]]))


def test_aligned_predictions_are_selected_by_and_taught():
    """Means (0.75, 0.25) and (0.675, 0.325). To uniform f's 0.6 becomes 0.6/1.5 : 0.4 * 2 = 0.4 : 0.8, 1/3, class 1."""
    rule = FixMatch(PAIR, tau=0.65, targets="soft", alignment="uniform")
    labels = rule.pseudo_label(WEAK, STEP)
    torch.testing.assert_close(labels.targets[0, 1], torch.tensor([1 / 3, 2 / 3]))
    assert labels.selected[0, 1]  # 2/3 reaches 0.65
    assert not labels.selected[0, 2]  # 0.7: 7/15 : 9/15 = 0.4375, under 0.65 either way
    assert not FixMatch(PAIR, tau=0.65).pseudo_label(WEAK, STEP).selected[0, 1]


def test_disagreement_is_of_the_aligned_labels():
    """f aligned to uniform: 0.9 0.6 0.7 0.8 become 3/4 1/3 7/16 4/7; g, mean 0.675, 0.9 to 0.8125, 0.3 to 0.17,
    0.8 to 0.66, 0.7 to 0.53: labels 0 1 1 0 and 0 1 0 0 differ on text 2 instead of text 1.
    """
    found = weights({"alignment": "uniform"})
    torch.testing.assert_close(found, torch.tensor([[0.1, 0.1, 0.9, 0.1]] * 2))


@pytest.mark.parametrize(
    ("settings", "target"),
    [
        ({"alignment": "uniform"}, [0.5, 0.5]),
        ({"alignment": "labeled"}, [0.25, 0.75]),
        ({"alignment": "given", "balance": [3, 1]}, [0.75, 0.25]),
    ],
)
def test_the_balance_aligned_to_is_the_one_asked_for(settings, target):
    rule = build("fixmatch", Task(2, 2, labeled_balance=(0.25, 0.75)), settings)
    assert isinstance(rule.align, Alignment)
    assert rule.align.target.tolist() == target
    assert not rule.align.estimated


def test_an_estimate_is_made_where_asked_for_with_the_momentum_given():
    rule = build("fixmatch", PAIR, {"alignment": "estimate", "alignment_momentum": 0.25})
    assert isinstance(rule.align, Alignment)
    assert rule.align.estimated
    assert rule.align.momentum == 0.25


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alignment": "given", "balance": [0.2, 0.3, 0.5]}, r"algorithm\.balance has 3 shares, wanted 2"),
        ({"alignment": "given"}, r"algorithm\.balance has 0 shares, wanted 2"),
        ({"alignment": "given", "balance": [0, 1]}, r"algorithm\.balance"),
        ({"balance": [0.5, 0.5]}, r"algorithm\.balance is only used with algorithm\.alignment = 'given', not 'none'"),
        ({"alignment": "labeled"}, r"algorithm\.alignment is 'labeled'"),
    ],
)
def test_a_balance_that_does_not_fit_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        build("fixmatch", PAIR, settings)


THREE = logits([[0.9], [0.7], [0.2]])  # labels 0, 0, 1
TRIO = Task(num_classes=2, num_networks=3)


def taught_by(labelling: str, **settings) -> tuple[list, list, list]:
    rule: Algorithm = JointMatch(TRIO, threshold="fixed", labelling=labelling, **{"tau": 0.6} | settings)  # type: ignore[arg-type]
    labels = rule.pseudo_label(THREE, Step(torch.arange(1)))
    return (labels.targets[:, 0].tolist(), labels.selected[:, 0].tolist(), labels.weights[:, 0].tolist())


def test_three_networks_in_a_ring():
    """f learns g's 0, g learns h's 1, h learns f's 0. f and g agree; g and h, h and f do not."""
    targets, selected, found = taught_by("cross")
    assert (targets, selected) == ([0, 1, 0], [True] * 3)
    assert found == pytest.approx([0.1, 0.9, 0.9])


def test_three_networks_each_by_the_mean_of_the_others():
    """f by (0.7 + 0.2) / 2 = 0.45: class 1 at 0.55, too unsure, and not its own 0. g by 0.55: class 0, its own, too
    unsure. h by 0.8: class 0, sure, not its own 1.
    """
    targets, selected, found = taught_by("others")
    assert (targets, selected) == ([1, 0, 0], [False, False, True])
    assert found == pytest.approx([0.9, 0.1, 0.9])


def test_confidence_disagrees_with_the_mean_of_the_others():
    """All three are sure (0.9, 0.7, 0.8 reach 0.6), of their teachers only h's: one of two, one of two, both."""
    _, _, found = taught_by("others", disagreement="confidence")
    assert found == pytest.approx([0.9, 0.9, 0.1])


def test_under_own_labels_disagreement_is_still_with_the_next_network():
    targets, _, found = taught_by("own")
    assert targets == [0, 0, 1]
    assert found == pytest.approx([0.1, 0.9, 0.9])


def test_of_two_networks_the_others_are_the_other():
    draw = torch.Generator().manual_seed(0)
    rules = [JointMatch(Task(5, 2), tau=0.6, labelling=labelling) for labelling in ("cross", "others")]
    for number in range(3):
        weak = 3 * torch.randn(2, 50, 5, generator=draw)
        a, b = (rule.pseudo_label(weak, Step(torch.arange(50), number)) for rule in rules)
        assert torch.equal(a.targets, b.targets)
        assert torch.equal(a.selected, b.selected)
        assert torch.equal(a.weights, b.weights)
