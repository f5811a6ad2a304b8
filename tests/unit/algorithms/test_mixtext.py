"""MixText on two texts, two classes and three views, worked by hand.

Probabilities of class 0, in the text and its two augmentations:
    first text  0.8, 0.6, 0.7: mean 0.7;   second text  0.3, 0.5, 0.1: mean 0.3.
Sharpened at T = 0.5: 0.49 / (0.49 + 0.09) = 0.844828 and 0.155172.
"""

from math import log

import numpy as np
import pytest
import torch

from jointmatch.algorithms import FixMatch, MixText
from jointmatch.selection import MIXING_DEPTHS
from jointmatch.types import PseudoLabels, Step, Task

VIEWS = [[[0.8, 0.3]], [[0.6, 0.5]], [[0.7, 0.1]]]
SHARP = 0.49 / 0.58
STEP = Step(torch.arange(2), number=3, total=12)


def logits(first_class):
    p = torch.tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


def test_the_label_is_the_sharpened_mean_over_the_text_and_its_augmentations():
    labels = MixText(Task(2)).pseudo_label(logits(VIEWS), STEP)
    wanted = torch.tensor([[[SHARP, 1 - SHARP], [1 - SHARP, SHARP]]])
    torch.testing.assert_close(labels.targets, wanted)
    assert labels.selected.all()
    assert labels.weights.tolist() == [[1.0, 1.0]]


def test_augmentations_may_count_less_or_nothing():
    """Weight 0: 0.64 / (0.64 + 0.04) = 0.941176 from 0.8."""
    labels = MixText(Task(2), augmented_weight=0.0).pseudo_label(logits(VIEWS), STEP)
    torch.testing.assert_close(labels.targets[0, 0, 0], torch.tensor(0.64 / 0.68))


def test_the_loss_is_the_mean_divergence_times_a_weight_that_grows_over_the_whole_training():
    """On (1/2, 1/2): KL = ln 2 - H(target), the same for both texts; step 3 of 12: w_u 4 has grown to 1."""
    rule = MixText(Task(2), unlabeled_weight=4.0)
    labels = rule.pseudo_label(logits(VIEWS), STEP)
    divergence = log(2) + SHARP * log(SHARP) + (1 - SHARP) * log(1 - SHARP)
    loss = rule.unsupervised_loss(torch.zeros(1, 2, 2), labels, STEP)
    torch.testing.assert_close(loss, torch.tensor([divergence]))
    assert MixText(Task(2), ramp=0.5).weight_at(STEP) == 0.5
    assert MixText(Task(2), ramp=0.0).weight_at(Step(torch.arange(2))) == 1.0


def test_the_hinge_costs_entropy_above_the_margin_and_is_off_by_itself():
    """Entropies ln 2 = 0.693147 and 0.562335 (of 1/4, 3/4), margin 0.6: 0.093147 and 0, mean 0.046574; weight 8 at a
    quarter of the ramp is 2."""
    strong = logits([[0.5, 0.25]])
    labels = PseudoLabels(strong.softmax(-1), torch.ones(1, 2, dtype=torch.bool), torch.ones(1, 2))
    assert MixText(Task(2)).unsupervised_loss(strong, labels, STEP).item() == pytest.approx(0, abs=1e-7)
    hinged = MixText(Task(2), hinge_weight=8.0, margin=0.6).unsupervised_loss(strong, labels, STEP)
    torch.testing.assert_close(hinged, torch.tensor([2 * (log(2) - 0.6) / 2]))


def test_the_hinge_costs_nothing_where_a_text_is_not_selected():
    """The first text's entropy alone exceeds the margin."""
    strong = logits([[0.5, 0.25]])
    labels = PseudoLabels(strong.softmax(-1), torch.tensor([[False, True]]), torch.ones(1, 2))
    hinged = MixText(Task(2), hinge_weight=8.0, margin=0.6).unsupervised_loss(strong, labels, STEP)
    torch.testing.assert_close(hinged, torch.zeros(1))


@pytest.mark.parametrize(("labeled", "unlabeled", "networks"), [(2, 5, 1), (0, 4, 3), (3, 0, 2)])
def test_all_texts_of_a_batch_are_mixed_in_one_permutation_at_one_of_the_depths(labeled, unlabeled, networks):
    rule = MixText(Task(3, networks))
    labels = rule.pseudo_label(torch.randn(networks, unlabeled, 3), STEP) if unlabeled else None
    seen = set()
    for seed in range(30):
        mixing = rule.mixing(labeled, labels, STEP, np.random.default_rng(seed))
        assert mixing.partner.shape == (networks, labeled + unlabeled)
        for own in mixing.partner.tolist():
            assert sorted(own) == list(range(labeled + unlabeled))
        assert 0.5 <= mixing.share < 0.9
        seen.add(mixing.depth)
    assert seen == set(MIXING_DEPTHS)


def test_one_view_without_sharpening_has_the_gradient_of_fixmatch_with_soft_labels_and_no_threshold():
    """KL and cross-entropy to a fixed target differ by a constant."""
    task = Task(4, 2)
    mine, plain = MixText(task, temperature=1.0, ramp=0.0), FixMatch(task, tau=0.0, targets="soft")
    draw = torch.Generator().manual_seed(0)
    weak, strong = torch.randn(2, 2, 6, 4, generator=draw)
    step = Step(torch.arange(6))
    gradients = []
    for rule in (mine, plain):
        given = strong.clone().requires_grad_()
        labels = rule.pseudo_label(weak, step)
        torch.testing.assert_close(labels.targets, weak.softmax(-1))
        rule.unsupervised_loss(given, labels, step).sum().backward()
        gradients.append(given.grad)
    torch.testing.assert_close(gradients[0], gradients[1])
