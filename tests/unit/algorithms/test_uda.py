"""UDA: sharpened soft targets, a strict mask that is off by default, and labels that are learnt late if easy."""

from math import log

import pytest
import torch

from jointmatch.algorithms import UDA, FixMatch
from jointmatch.types import Step, Task

STEP = Step(torch.arange(2), 5, 10)
WEAK = torch.tensor([[[0.8, 0.2], [0.5, 0.5]]]).log()
STRONG = torch.tensor([[[0.5, 0.5], [0.25, 0.75]]]).log()


def labelled(*probability_of_the_truth):
    """Logits (1, B, 2) of texts whose label is 0."""
    p = torch.tensor([probability_of_the_truth])
    return torch.stack([p, 1 - p], -1).log()


def supervised(logits, number=5, **settings):
    rule = UDA(Task(2, num_networks=len(logits)), **settings)
    return rule.supervised_loss(logits, torch.zeros(logits.shape[1], dtype=torch.long), Step(STEP.index, number, 10))


def test_the_target_is_the_weak_prediction_sharpened():
    """T 0.5 squares: (0.64, 0.04) / 0.68 = (16/17, 1/17)."""
    labels = UDA(Task(2), temperature=0.5).pseudo_label(WEAK, STEP)
    torch.testing.assert_close(labels.targets, torch.tensor([[[16 / 17, 1 / 17], [0.5, 0.5]]]))


def test_the_published_temperature_is_applied():
    """T 0.85: 0.8 / 0.2 = 4 becomes 4 ** (1 / 0.85), so p = r / (1 + r)."""
    r = 4 ** (1 / 0.85)
    labels = UDA(Task(2)).pseudo_label(WEAK, STEP)
    torch.testing.assert_close(labels.targets[0, 0], torch.tensor([r / (1 + r), 1 / (1 + r)]))


def test_the_loss_is_the_divergence_from_the_target_over_the_whole_batch():
    """Text 0: 16/17 ln(16/17) + 1/17 ln(1/17) + ln 2. Text 1: ln(1/2) - 1/2 ln(1/4) - 1/2 ln(3/4). Mean, times 3."""
    rule = UDA(Task(2), temperature=0.5, unlabeled_weight=3.0)
    first = 16 / 17 * log(16 / 17) + 1 / 17 * log(1 / 17) + log(2)
    second = log(1 / 2) - log(1 / 4) / 2 - log(3 / 4) / 2
    loss = rule.unsupervised_loss(STRONG, rule.pseudo_label(WEAK, STEP), STEP)
    torch.testing.assert_close(loss, torch.tensor([3 * (first + second) / 2]))


def test_a_strong_view_that_says_the_same_costs_nothing():
    rule = UDA(Task(2), temperature=1.0)
    torch.testing.assert_close(
        rule.unsupervised_loss(WEAK, rule.pseudo_label(WEAK, STEP), STEP), torch.zeros(1), rtol=0, atol=1e-6
    )


def test_every_text_is_used_unless_told_otherwise():
    assert UDA(Task(2)).pseudo_label(WEAK, STEP).selected.tolist() == [[True, True]]
    assert UDA(Task(2), beta=0.7).pseudo_label(WEAK, STEP).selected.tolist() == [[True, False]]


def test_a_confidence_of_just_beta_is_not_enough():
    """Equal logits give exactly 1/2."""
    assert UDA(Task(2), beta=0.5).pseudo_label(torch.zeros(1, 1, 2), STEP).selected.tolist() == [[False]]


def test_the_mask_looks_at_the_confidence_before_sharpening():
    """0.8 does not exceed 0.9; sharpened at T 0.5 it would be 0.94."""
    labels = UDA(Task(2), beta=0.9, temperature=0.5).pseudo_label(WEAK, STEP)
    assert labels.selected.tolist() == [[False, False]]


def test_labels_likelier_than_the_level_wait_and_the_mean_is_over_the_rest():
    """Linear, half way, two classes: level 0.75. Of 0.9, 0.5, 0.25 the first waits: (ln 2 + ln 4) / 2."""
    torch.testing.assert_close(supervised(labelled(0.9, 0.5, 0.25)), torch.tensor([(log(2) + log(4)) / 2]))


def test_the_level_is_that_of_the_steps_done_so_far():
    """Five of ten done: 0.75. A step later it were 0.8, and 0.77 would be learnt as well."""
    torch.testing.assert_close(supervised(labelled(0.77, 0.5)), torch.tensor([log(2)]))


def test_a_label_just_as_likely_as_the_level_is_learnt():
    """At the first step the level is 1/2; equal logits give 1/2: ln 2."""
    torch.testing.assert_close(supervised(torch.zeros(1, 1, 2), number=0), torch.tensor([log(2)]))


@pytest.mark.parametrize(
    ("annealing", "kept"),
    [("none", (0.95, 0.7, 0.5)), ("linear", (0.7, 0.5)), ("log", (0.95, 0.7, 0.5)), ("exp", (0.5,))],
)
def test_each_schedule_has_its_level_half_way(annealing, kept):
    """1; 0.75; 1/2 + (1 - e^-2.5) / 2 = 0.959; 1/2 + e^-2.5 / 2 = 0.541."""
    wanted = sum(-log(p) for p in kept) / len(kept)
    torch.testing.assert_close(supervised(labelled(0.95, 0.7, 0.5), annealing=annealing), torch.tensor([wanted]))


def test_where_every_label_waits_the_loss_is_zero_and_so_is_its_gradient():
    logits = labelled(0.9, 0.95).requires_grad_()
    loss = supervised(logits)
    loss.sum().backward()
    assert loss.tolist() == [0.0]
    assert not logits.grad.any()


def test_each_network_waits_for_its_own_labels():
    """The first network's 0.9 waits, the second one's 0.5 does not: ln 2 / 1, (ln 2 + ln 2) / 2."""
    loss = supervised(torch.cat([labelled(0.9, 0.5), labelled(0.5, 0.5)]))
    torch.testing.assert_close(loss, torch.tensor([log(2), log(2)]))


def test_without_annealing_it_is_the_plain_supervised_loss():
    logits = torch.randn(2, 6, 2, generator=torch.Generator().manual_seed(0))
    y = torch.tensor([0, 1, 1, 0, 1, 0])
    plain, rule = FixMatch(Task(2, 2)), UDA(Task(2, 2), annealing="none")
    torch.testing.assert_close(rule.supervised_loss(logits, y, STEP), plain.supervised_loss(logits, y, STEP))


@pytest.mark.parametrize(("networks", "classes"), [(1, 2), (2, 5), (3, 150)])
def test_at_a_vanishing_temperature_it_is_fixmatch(networks, classes):
    """The target becomes its largest entry, whose entropy is 0: KL is then the cross-entropy with the label."""
    task = Task(classes, networks)
    uda, fixmatch = UDA(task, temperature=1e-6, beta=0.6), FixMatch(task, tau=0.6)
    weak, strong = 4 * torch.randn(2, networks, 40, classes, generator=torch.Generator().manual_seed(1))
    mine, theirs = uda.pseudo_label(weak, STEP), fixmatch.pseudo_label(weak, STEP)
    assert 0 < theirs.selected.sum() < theirs.selected.numel()
    assert torch.equal(mine.selected, theirs.selected)
    assert torch.equal(mine.targets.argmax(-1), theirs.targets)
    torch.testing.assert_close(
        uda.unsupervised_loss(strong, mine, STEP), fixmatch.unsupervised_loss(strong, theirs, STEP)
    )


def test_hard_targets_have_no_entropy_to_take_off():
    rule, fixmatch = UDA(Task(2), targets="hard"), FixMatch(Task(2), tau=0.0)
    labels = rule.pseudo_label(WEAK, STEP)
    torch.testing.assert_close(
        rule.unsupervised_loss(STRONG, labels, STEP), fixmatch.unsupervised_loss(STRONG, labels, STEP)
    )
