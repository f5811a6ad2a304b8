"""FreeMatch on one batch of three texts and two classes, worked by hand.

m 0.5, w_u 2, w_f 0.1. Weak probabilities of class 0: 0.9, 0.6, 0.2. As in test_self_adaptive: P = (0.533333, 0.466667),
h = (0.583333, 0.416667), thresholds (0.633333, 0.554167): texts 0 and 2 are selected, labels 0 and 1.
Strong probabilities of class 0: 3/4, 1/2, 5/8.
    L_u = (ln 4/3 + ln 8/3) / 3
    Q = (3/4 + 5/8, 1/4 + 3/8) / 2 = (11/16, 5/16), both texts' strong label is 0: g = (1, 0), N(Q / g) = (1, 0)
    P / h = (0.914286, 1.12), sum 2.034286: N(P / h) = (0.449438, 0.550562)
    L_f = 0.449438 ln 1 + 0.550562 ln 1e-12 = -15.212585
"""

from math import log

import pytest
import torch

from jointmatch.algorithms import FixMatch, FreeMatch, JointMatch
from jointmatch.losses import fairness
from jointmatch.types import Step, Task

STEP = Step(torch.arange(3))


def logits(*first_class):
    p = torch.tensor([first_class])
    return torch.stack([p, 1 - p], -1).log()


WEAK, STRONG = logits(0.9, 0.6, 0.2), logits(3 / 4, 1 / 2, 5 / 8)


def algorithm(**settings):
    return FreeMatch(Task(2), **{"momentum": 0.5, "unlabeled_weight": 2.0, "fairness_weight": 0.1} | settings)


def test_what_reaches_its_class_s_threshold_is_selected():
    labels = algorithm().pseudo_label(WEAK, STEP)
    assert labels.targets.tolist() == [[0, 0, 1]]
    assert labels.selected.tolist() == [[True, False, True]]
    assert labels.weights.tolist() == [[1.0, 1.0, 1.0]]


def test_the_loss_is_consistency_plus_fairness_each_with_its_weight():
    rule = algorithm()
    loss = rule.unsupervised_loss(STRONG, rule.pseudo_label(WEAK, STEP), STEP)
    consistency = (log(4 / 3) + log(8 / 3)) / 3
    torch.testing.assert_close(loss, torch.tensor([2 * consistency + 0.1 * -15.212585]))


def test_without_fairness_it_is_the_consistency_alone():
    rule = algorithm(fairness_weight=0.0)
    loss = rule.unsupervised_loss(STRONG, rule.pseudo_label(WEAK, STEP), STEP)
    torch.testing.assert_close(loss, torch.tensor([2 * (log(4 / 3) + log(8 / 3)) / 3]))


def fair(strong, selected, class_mean, label_share):
    return fairness(strong, torch.tensor([selected]), torch.tensor([class_mean]), torch.tensor([label_share]))


def test_fairness_is_the_plus_signed_sum_over_selected_texts_only():
    """Strong 0.8, 0.6, 0.1 selected, the fourth not: Q (1/2, 1/2), g (2/3, 1/3), Q / g = (3/4, 3/2): (1/3, 2/3).
    P (0.6, 0.4), h even: (0.6, 0.4). 0.6 ln 1/3 + 0.4 ln 2/3 = -0.821353."""
    loss = fair(logits(0.8, 0.6, 0.1, 0.99), [True, True, True, False], [0.6, 0.4], [0.5, 0.5])
    torch.testing.assert_close(loss, torch.tensor([-0.821353]))


def test_the_running_mean_is_held_against_the_running_label_shares():
    """P (0.6, 0.4), h (0.75, 0.25): (0.8, 1.6), so (1/3, 2/3). 1/3 ln 1/3 + 2/3 ln 2/3 = -0.636514."""
    loss = fair(logits(0.8, 0.6, 0.1), [True, True, True], [0.6, 0.4], [0.75, 0.25])
    torch.testing.assert_close(loss, torch.tensor([-0.636514]))


def test_a_class_that_is_no_text_s_label_counts_nothing_and_is_no_infinity():
    """h (1, 0): P / h = (0.6, 0), so (1, 0): ln 1/3. A strong label of one class: N(Q / g) = (1, 0), ln 1 = 0 there."""
    torch.testing.assert_close(
        fair(logits(0.8, 0.6, 0.1), [True, True, True], [0.6, 0.4], [1.0, 0.0]), torch.tensor([log(1 / 3)])
    )
    torch.testing.assert_close(
        fair(logits(0.8, 0.6), [True, True], [0.6, 0.4], [1.0, 0.0]), torch.zeros(1), rtol=0, atol=1e-6
    )


def test_nothing_selected_is_fair_and_has_no_gradient():
    strong = logits(0.8, 0.6).requires_grad_()
    loss = fair(strong, [False, False], [0.6, 0.4], [0.5, 0.5])
    loss.sum().backward()
    assert loss.tolist() == [0.0]
    assert strong.grad is not None
    assert not strong.grad.any()


def test_going_downhill_makes_the_class_held_back_likelier():
    """N(P / h) = (0.9, 0.1) and N(Q / g) = (1/3, 2/3): d/dn0 of 0.9 ln n0 + 0.1 ln(1 - n0) is 2.7 - 0.15 > 0, so the
    class that P already has is pushed down and the other one up."""
    strong = logits(0.8, 0.6, 0.1).requires_grad_()
    fair(strong, [True, True, True], [0.9, 0.1], [0.5, 0.5]).sum().backward()
    assert (strong.grad[..., 0] > 0).all()
    assert (strong.grad[..., 1] < 0).all()


def test_each_network_is_held_to_its_own_means():
    both = fairness(
        logits(0.8, 0.6, 0.1).expand(2, 3, 2),
        torch.ones(2, 3, dtype=torch.bool),
        torch.tensor([[0.6, 0.4], [0.6, 0.4]]),
        torch.tensor([[0.5, 0.5], [0.75, 0.25]]),
    )
    torch.testing.assert_close(both, torch.tensor([-0.821353, -0.636514]))


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_with_constant_statistics_and_no_fairness_it_is_exactly_fixmatch(networks):
    task = Task(5, networks)
    freematch, fixmatch = FreeMatch(task, momentum=1.0, fairness_weight=0.0), FixMatch(task, tau=0.6)
    freematch.threshold.confidence.fill_(0.6)
    weak, strong = 3 * torch.randn(2, networks, 50, 5, generator=torch.Generator().manual_seed(0))
    step = Step(torch.arange(50))
    mine, theirs = freematch.pseudo_label(weak, step), fixmatch.pseudo_label(weak, step)
    assert 0 < mine.selected.sum() < mine.selected.numel()
    for field in ("targets", "selected", "weights"):
        assert torch.equal(getattr(mine, field), getattr(theirs, field))
    torch.testing.assert_close(
        freematch.unsupervised_loss(strong, mine, step), fixmatch.unsupervised_loss(strong, theirs, step)
    )


def test_with_a_constant_confidence_it_selects_as_jointmatch_with_own_labels():
    """Texts of one confidence 0.7, then less sure ones that t is kept from following: the class ratios are the same
    running means, so the masks are."""
    task, momentum = Task(4, 2), 0.8
    freematch = FreeMatch(task, momentum=momentum)
    jointmatch = JointMatch(task, tau=0.7, momentum=momentum, labelling="own", weighting="uniform")
    draw = torch.Generator().manual_seed(3)
    for number in range(4):
        weak = 2 * torch.randn(2, 40, 4, generator=draw) + torch.tensor([1.0, 0.5, 0.0, -0.5])
        probs = weak.softmax(-1)
        step = Step(torch.arange(40), number)
        now = (0.7 - momentum * freematch.threshold.confidence) / (1 - momentum)  # what keeps t at 0.7 after the update
        freematch.threshold.confidence += (now - probs.amax(-1).mean(-1)) * (1 - momentum) / momentum
        mine, theirs = freematch.pseudo_label(weak, step), jointmatch.pseudo_label(weak, step)
        torch.testing.assert_close(freematch.threshold.confidence, torch.full((2,), 0.7))
        assert torch.equal(mine.selected, theirs.selected)
        assert 0 < mine.selected.sum() < 80
