"""Two changed views of three texts, two classes, one network, worked by hand.

Probabilities of class 0: of the texts themselves 0.3 throughout, which gives no label; first view 0.995, 0.6, 0.2;
second view 0.9, 0.995, 0.001. tau 0.99.
"""

from math import log

import pytest
import torch

from jointmatch.algorithms import SAT, FixMatch
from jointmatch.types import Step, Task
from tests.unit.training.toy import toy_features, toy_learner, toy_updater

STEP = Step(torch.arange(3))
VIEWS = torch.tensor([[[0.3, 0.3, 0.3]], [[0.995, 0.6, 0.2]], [[0.9, 0.995, 0.001]]])


def logits(first_class):
    p = torch.as_tensor(first_class)
    return torch.stack([p, 1 - p], -1).log()


def algorithm(prefers=0, **settings):
    """One whose ranker always finds the same view easier."""
    rule = SAT(Task(2), **settings)
    rule.ranker.of_network[0][-1].bias.data[prefers] = 1.0  # type: ignore[index]
    return rule


def test_the_first_view_labels_and_the_second_is_learnt_where_the_ranker_finds_the_first_easier():
    """0.995 alone exceeds 0.99."""
    labels = algorithm(0).pseudo_label(logits(VIEWS), STEP)
    assert labels.targets.tolist() == [[0, 0, 1]]
    assert labels.selected.tolist() == [[True, False, False]]
    assert labels.views is not None
    assert labels.views.tolist() == [[2, 2, 2]]


def test_and_the_other_way_round():
    """0.995 and 1 - 0.001 = 0.999 exceed 0.99."""
    labels = algorithm(1).pseudo_label(logits(VIEWS), STEP)
    assert labels.targets.tolist() == [[0, 0, 1]]
    assert labels.selected.tolist() == [[False, True, True]]
    assert labels.views is not None
    assert labels.views.tolist() == [[1, 1, 1]]


def test_the_unsupervised_loss_is_half_the_mean_over_the_whole_batch():
    """Second view easier; the student says 1/2, 3/4, 1/4 for class 0: 0.5 (ln 4/3 + ln 4/3) / 3."""
    rule = algorithm(1)
    labels = rule.pseudo_label(logits(VIEWS), STEP)
    loss = rule.unsupervised_loss(logits([[0.5, 0.75, 0.25]]), labels, STEP)
    torch.testing.assert_close(loss, torch.tensor([0.5 * 2 * log(4 / 3) / 3]))


def test_confidence_must_exceed_the_threshold():
    """Two equal logits make exactly 0.5."""
    even = torch.zeros(3, 1, 3, 2)
    assert not algorithm(tau=0.5).pseudo_label(even, STEP).selected.any()
    assert algorithm(tau=0.49).pseudo_label(even, STEP).selected.all()


def test_the_rankers_loss_is_the_cross_entropy_of_its_scores_with_the_easier_view():
    """Scores 1 and 0. Classes 0 0 1: the easier views are 0, 1, 1, so ln(1 + e^-1) + 2 ln(1 + e), over 3."""
    loss = algorithm(0).labeled_views_loss(logits(VIEWS), torch.tensor([0, 0, 1]), STEP)
    expected = (log(1 + 2.718281828**-1) + 2 * log(1 + 2.718281828)) / 3
    torch.testing.assert_close(loss, torch.tensor([expected]))


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_before_the_ranker_has_learnt_anything_it_is_fixmatch(networks):
    task = Task(num_classes=5, num_networks=networks)
    rule, fixmatch = SAT(task, tau=0.6), FixMatch(task, tau=0.6, unlabeled_weight=0.5)
    draw = torch.Generator().manual_seed(0)
    views = 3 * torch.randn(3, networks, 50, 5, generator=draw)
    strong = torch.randn(networks, 50, 5, generator=draw)
    step = Step(torch.arange(50))
    mine, theirs = rule.pseudo_label(views, step), fixmatch.pseudo_label(views[1], step)
    assert 0 < mine.selected.sum() < mine.selected.numel()
    for name in ("targets", "selected", "weights"):
        assert torch.equal(getattr(mine, name), getattr(theirs, name))
    assert mine.views is not None
    assert (mine.views == 2).all()
    ours = rule.unsupervised_loss(strong, mine, step)
    assert torch.equal(ours, fixmatch.unsupervised_loss(strong, theirs, step))


def test_training_teaches_the_ranker_which_view_is_easier():
    """The first changed view is noise and the second nearly the text, so the second gives the labels."""
    features = toy_features()
    draw = torch.Generator().manual_seed(9)
    noise, pool_noise = (torch.randn(f.shape, generator=draw) for f in (features.labeled, features.weak))
    features.labeled_strong.extend([0.1 * noise, features.labeled + 0.1 * noise])
    features.strong[:] = [0.1 * pool_noise, features.weak + 0.1 * pool_noise]
    settings = {"ranker_learning_rate": 0.05, "tau": 0.5}
    updater = toy_updater("sat", toy_learner(features=features), settings=settings, steps=40, batch_size=0)
    for number in range(40):
        updater.step(number)
    with torch.no_grad():
        views = torch.stack([updater.learner.networks(f) for f in (features.weak, *features.strong)])
    labels = updater.algorithm.pseudo_label(views, Step(torch.arange(24)))
    assert labels.views is not None
    assert (labels.views == 1).float().mean() > 0.8
