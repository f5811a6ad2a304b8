"""Algorithm 1 on one batch of four texts, two classes and two networks, worked by hand.

tau 0.8, lambda 0.5, delta 0.9. Weak probabilities of class 0:
    f: 0.9, 0.6, 0.4, 0.1   mean 0.5, class mean 0.5 * 0.5 + 0.5 * 0.5 = (0.5, 0.5), thresholds (0.8, 0.8)
    g: 0.95, 0.3, 0.7, 0.85 mean 0.7, class mean 0.5 * 0.5 + 0.5 * 0.7 = (0.6, 0.4), thresholds (0.8, 0.5333)
Labels f 0 0 1 1, g 0 1 0 0. Confident f 1 0 0 1 (0.9, 0.9 reach 0.8), g 1 1 0 1 (0.95 and 0.85 reach 0.8, 0.7 reaches
0.5333 for class 1 but not 0.8 for class 0). The labels differ on the last three texts: weights 0.1 0.9 0.9 0.9.

Strong probabilities of class 0, f: 1/2, 3/4, 1/2, 1/4 and g: 1/4, 1/2, 1/2, 1/2.
    L_u^f, labels of g 0 1 . 0: (0.1 ln 2 + 0.9 ln 4 + 0.9 ln 4) / 4 = 3.7/4 ln 2 = 0.925 ln 2
    L_u^g, labels of f 0 . . 1: (0.1 ln 4 + 0.9 ln 2) / 4 = 1.1/4 ln 2 = 0.275 ln 2
"""

from math import log

import pytest
import torch

from jointmatch.algorithms import FixMatch, JointMatch
from jointmatch.types import Step, Task

STEP = Step(torch.arange(4))
TASK = Task(num_classes=2, num_networks=2)
WEAK = [[0.9, 0.6, 0.4, 0.1], [0.95, 0.3, 0.7, 0.85]]
STRONG = [[0.5, 0.75, 0.5, 0.25], [0.25, 0.5, 0.5, 0.5]]


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


def algorithm(**settings):
    return JointMatch(TASK, **{"tau": 0.8, "momentum": 0.5, "delta": 0.9} | settings)


def unsupervised(rule):
    labels = rule.pseudo_label(logits(WEAK), STEP)
    return labels, rule.unsupervised_loss(logits(STRONG), labels, STEP)


def test_each_network_is_taught_the_others_confident_labels():
    labels, _ = unsupervised(algorithm())
    assert labels.targets.tolist() == [[0, 1, 0, 0], [0, 0, 1, 1]]
    assert labels.selected.tolist() == [[True, True, False, True], [True, False, False, True]]


def test_disagreement_weighs_nine_tenths_and_agreement_one():
    labels, _ = unsupervised(algorithm())
    torch.testing.assert_close(labels.weights, torch.tensor([[0.1, 0.9, 0.9, 0.9]] * 2))


def test_the_thresholds_follow_each_networks_class_mean():
    rule = algorithm()
    unsupervised(rule)
    torch.testing.assert_close(rule.thresholds(), torch.tensor([[0.8, 0.8], [0.8, 0.8 * 2 / 3]]))


def test_the_unsupervised_loss_of_both_networks():
    _, loss = unsupervised(algorithm())
    torch.testing.assert_close(loss, torch.tensor([0.925, 0.275]) * log(2))


def test_the_unlabeled_weight_multiplies_the_loss():
    """w_u = 3: three times the loss above."""
    _, loss = unsupervised(algorithm(unlabeled_weight=3.0))
    torch.testing.assert_close(loss, torch.tensor([2.775, 0.825]) * log(2))


def test_the_published_codes_choices_on_the_same_batch():
    """The shared mean is (0.5, 0.5) after f and (0.6, 0.4) after g, so the masks stay. One of two confident only on
    the second text, none on the third: weights 0.1 0.9 0 0.1.
    f: (0.1 ln 2 + 0.9 ln 4 + 0.1 ln 4) / 4 = 0.525 ln 2; g: (0.1 ln 4 + 0.1 ln 2) / 4 = 0.075 ln 2.
    """
    labels, loss = unsupervised(algorithm(class_mean="shared", disagreement="confidence"))
    torch.testing.assert_close(labels.weights, torch.tensor([[0.1, 0.9, 0.0, 0.1]] * 2))
    torch.testing.assert_close(loss, torch.tensor([0.525, 0.075]) * log(2))


def test_without_adaptive_thresholds_the_rarer_class_has_the_full_one():
    """g's 0.7 for class 1 no longer passes: f keeps texts 0 and 3, (0.1 ln 2 + 0.9 ln 4) / 4 = 0.475 ln 2."""
    labels, loss = unsupervised(algorithm(threshold="fixed"))
    assert labels.selected.tolist() == [[True, False, False, True]] * 2
    torch.testing.assert_close(loss, torch.tensor([0.475, 0.275]) * log(2))


def test_without_cross_labelling_each_network_teaches_itself():
    """f keeps its 0 . . 1: (0.1 ln 2 + 0.9 ln 4/3) / 4.
    g keeps its 0 1 . 0: (0.1 ln 4 + 0.9 ln 2 + 0.9 ln 2) / 4 = 0.5 ln 2.
    """
    labels, loss = unsupervised(algorithm(labelling="own"))
    assert labels.targets.tolist() == [[0, 0, 1, 1], [0, 1, 0, 0]]
    torch.testing.assert_close(loss, torch.tensor([(0.1 * log(2) + 0.9 * log(4 / 3)) / 4, 0.5 * log(2)]))


def test_without_disagreement_weights_every_text_counts_once():
    """f: (ln 2 + ln 4 + ln 4) / 4 = 1.25 ln 2; g: (ln 4 + ln 2) / 4 = 0.75 ln 2."""
    _, loss = unsupervised(algorithm(weighting="uniform"))
    torch.testing.assert_close(loss, torch.tensor([1.25, 0.75]) * log(2))


def test_a_delta_of_one_half_halves_the_uniform_loss():
    """Every weight is 0.5: 0.625 ln 2 and 0.375 ln 2."""
    _, loss = unsupervised(algorithm(delta=0.5))
    torch.testing.assert_close(loss, torch.tensor([0.625, 0.375]) * log(2))


def test_half_the_adaptivity_takes_the_root_of_the_ratio():
    """g's class means (0.6, 0.4): 0.8 * sqrt(2/3) = 0.6532 for class 1, which g's 0.7 still reaches."""
    rule = algorithm(adaptivity=0.5)
    labels, _ = unsupervised(rule)
    torch.testing.assert_close(rule.thresholds(), torch.tensor([[0.8, 0.8], [0.8, 0.8 * (2 / 3) ** 0.5]]))
    assert labels.selected.tolist() == [[True, True, False, True], [True, False, False, True]]


def test_soft_targets_teach_the_peers_probabilities_on_the_same_texts():
    """Weights 0.1 0.9 0.9 0.9, kept texts as with hard targets.
    f by g's 0.95, 0.3, 0.85 on 1/2, 3/4, 1/4: 0.1 ln 2 + 0.9 (0.3 ln 4/3 + 0.7 ln 4) + 0.9 (0.85 ln 4 + 0.15 ln 4/3),
    over 4. g by f's 0.9, 0.1 on 1/4, 1/2: (0.1 (0.9 ln 4 + 0.1 ln 4/3) + 0.9 ln 2) / 4.
    """
    labels, loss = unsupervised(algorithm(targets="soft"))
    assert labels.targets.shape == (2, 4, 2)
    f = 0.1 * log(2) + 0.9 * (0.3 * log(4 / 3) + 0.7 * log(4)) + 0.9 * (0.85 * log(4) + 0.15 * log(4 / 3))
    g = 0.1 * (0.9 * log(4) + 0.1 * log(4 / 3)) + 0.9 * log(2)
    torch.testing.assert_close(loss, torch.tensor([f / 4, g / 4]))


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_minus_all_three_ideas_it_is_exactly_fixmatch(networks):
    task = Task(num_classes=5, num_networks=networks)
    ablated = JointMatch(task, tau=0.6, threshold="fixed", labelling="own", weighting="uniform", unlabeled_weight=2.0)
    fixmatch = FixMatch(task, tau=0.6, unlabeled_weight=2.0)
    draw = torch.Generator().manual_seed(0)
    for number in range(3):
        weak, strong = torch.randn(2, networks, 50, 5, generator=draw) * 3
        step = Step(torch.arange(50), number)
        mine, theirs = ablated.pseudo_label(weak, step), fixmatch.pseudo_label(weak, step)
        assert 0 < mine.selected.sum() < mine.selected.numel()
        for name in ("targets", "selected", "weights"):
            assert torch.equal(getattr(mine, name), getattr(theirs, name))
        loss = ablated.unsupervised_loss(strong, mine, step)
        assert torch.equal(loss, fixmatch.unsupervised_loss(strong, theirs, step))


def test_the_class_mean_carries_over_to_the_next_batch():
    """g after the same batch again: 0.5 * (0.6, 0.4) + 0.5 * (0.7, 0.3) = (0.65, 0.35); 0.8 * 35/65 = 0.430769."""
    rule = algorithm()
    unsupervised(rule)
    unsupervised(rule)
    torch.testing.assert_close(rule.thresholds()[1], torch.tensor([0.8, 0.430769]))
