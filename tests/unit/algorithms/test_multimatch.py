"""Three heads, two classes and a pool of four texts, by hand: each batch is the whole pool, so an epoch is a step.

d 1, momentum 0, so that FreeMatch's thresholds are those of the batch alone, and quantile 0.5.
"""

from itertools import pairwise
from math import log

import pytest
import torch

from jointmatch.algorithms import FreeMatch, MultiMatch
from jointmatch.errors import ConfigError
from jointmatch.resolve import resolve
from jointmatch.types import Step, Task

TASK = Task(num_classes=2, num_networks=3, pool_size=4)


def at(number, total=10, index=None):
    return Step(torch.arange(4) if index is None else index, number, total)


def leads(*heads):
    """Logits (3, 4, 2) in which class 0 is ahead by so much."""
    ahead = torch.tensor(heads)
    return torch.stack([ahead, torch.zeros_like(ahead)], -1)


FIRST = leads([4.0, 2.0, -2.0, -6.0], [3.0, 1.0, 2.0, -4.0], [5.0, -1.0, -3.0, -2.0])
SECOND = leads([4.0, 1.0, -2.0, -6.0], [3.0, 5.0, 2.0, -4.0], [1.0, -1.0, -3.0, -2.0])


def rule(**settings):
    return MultiMatch(TASK, **{"smoothing": 1.0, "momentum": 0.0, "quantile": 0.5} | settings)


def taught(**settings):
    trained = rule(**settings)
    trained.pseudo_label(FIRST, at(0))
    return trained, trained.pseudo_label(SECOND, at(1))


def test_in_the_first_epoch_nothing_is_taught_and_every_cut_is_zero():
    trained = rule()
    assert not trained.pseudo_label(FIRST, at(0)).selected.any()
    assert trained.cuts.tolist() == [[0.0, 0.0]] * 3


def test_texts_not_seen_yet_have_no_part_in_the_cuts():
    """Text 0 alone was seen, of class 0 throughout: by 3 5, 5 4 and 4 3, medians 4, 4.5 and 3.5."""
    trained = rule()
    first = torch.tensor([0])
    for number in range(2):
        trained.pseudo_label(FIRST[:, :1], at(number, index=first))
    assert trained.cuts.tolist() == [[4.0, 0.0], [4.5, 0.0], [3.5, 0.0]]


def test_the_cuts_are_those_of_the_first_epoch_in_the_second():
    """Labels of the first: head 0 0 0 1 1, head 1 0 0 0 1, head 2 0 1 1 1.
    Head 0 by 1 and 2, agreed on texts 0 and 3: class 0 of 3 5, median 4; class 1 of 4 2, 3.
    Head 1 by 2 and 0, on 0, 2 and 3: class 0 of 5 4, 4.5; class 1 of 3 2 2 6, 2.5.
    Head 2 by 0 and 1, on 0, 1 and 3: class 0 of 4 2 3 1, 2.5; class 1 of 6 4, 5.
    """
    trained, _ = taught()
    assert trained.cuts.tolist() == [[4.0, 3.0], [4.5, 2.5], [2.5, 5.0]]


def test_batches_of_one_step_count_for_the_epoch():
    """Two batches of two texts are a pass over the pool: at the first step nothing is taught, at the second it is."""
    trained = rule(cut_floor=True)
    for number in (0, 1):
        for turn in (0, 1):
            rows = torch.tensor([0, 1]) + 2 * turn
            labels = trained.pseudo_label(FIRST[:, rows], Step(rows, number, 10, turn, 2))
            assert bool(labels.selected.any()) == bool(number)
    assert trained.cuts.tolist() == [[4.0, 3.0], [4.5, 2.5], [2.5, 5.0]]


def test_what_each_head_is_taught_by_the_other_two():
    """Mean margins after the second batch, of each head's label: head 0 4 1.5 2 6, head 1 3 3 2 4, head 2 3 1 3 2.
    Labels as before: 0 0 1 1, 0 0 0 1, 0 1 1 1.
    Head 0, cuts 4 and 3: head 1 is above on text 3 alone (4 >= 3; 3 3 2 < 4), head 2 on text 2 alone (3 >= 3).
        Text 2: labels 0 and 1, head 2 above: 1, weight 3. Text 3: agreed, one above: 1, weight 3. Others 0.
    Head 1, cuts 4.5 and 2.5: head 2 on text 2 (3), head 0 on text 3 (6): labels 1 1, weight 3 each.
    Head 2, cuts 2.5 and 5: head 0 on texts 0 (4) and 3 (6), head 1 on 0 and 1 (3 3; 2 < 2.5, 4 < 5).
        Text 0: both, agreed: 0, weight 1. Text 1: one: 0, weight 3. Text 2: none. Text 3: one: 1, weight 3.
    """
    _, labels = taught()
    torch.testing.assert_close(
        labels.weights, torch.tensor([[0.0, 0.0, 3.0, 3.0], [0.0, 0.0, 3.0, 3.0], [1.0, 3.0, 0.0, 3.0]])
    )
    assert labels.targets[0, 2:].tolist() == labels.targets[1, 2:].tolist() == [1, 1]
    assert labels.targets[2, [0, 1, 3]].tolist() == [0, 0, 1]


def test_one_of_the_voters_must_be_sure_by_freematch():
    """With momentum 0 the threshold is the batch's mean confidence times P(c) / max P. On text 0 all heads lead by 0.1
    only, far below, though the mean margins 2.05 and 1.55 of heads 0 and 1 reach head 2's cut, 1 at quantile 0.
    """
    trained = rule(quantile=0.0)
    trained.pseudo_label(FIRST, at(0))
    third = leads([0.1, 9.0, -9.0, -9.0], [0.1, 9.0, 9.0, -9.0], [0.1, -9.0, -9.0, -9.0])
    labels = trained.pseudo_label(third, at(1))
    probs = third.softmax(-1)
    mean = probs.mean(1)
    limit = probs.amax(-1).mean(1, keepdim=True) * mean / mean.amax(-1, keepdim=True)
    torch.testing.assert_close(trained.thresholds(), limit)
    assert labels.weights[2].tolist() == [1.0, 1.0, 0.0, 1.0]
    assert labels.selected[2].tolist() == [False, True, False, True]


@pytest.mark.parametrize(("f", "g"), [(0.1, 9.0), (9.0, 0.1)])
def test_one_sure_voter_is_enough_whichever_it_is(f, g):
    trained = rule(quantile=0.0)
    trained.pseudo_label(FIRST, at(0))
    third = leads([f, 9.0, -9.0, -9.0], [g, 9.0, 9.0, -9.0], [0.1, -9.0, -9.0, -9.0])
    assert trained.pseudo_label(third, at(1)).selected[2, 0]


def test_two_voters_that_are_both_above_and_disagree_teach_nothing():
    trained = rule()
    labels = trained.pseudo_label(leads([9.0] * 4, [9.0] * 4, [-9.0] * 4), at(1, total=1))
    assert labels.weights.tolist() == [[0.0] * 4, [0.0] * 4, [1.0] * 4]


@pytest.mark.parametrize(("floor", "cut"), [(True, 0.0), (False, -1.0)])
def test_a_cut_below_nothing_is_raised_to_it_if_so_wished(floor, cut):
    """All heads are behind by 5 in class 0, then ahead by 3: their label, at a mean margin of (3 - 5) / 2 = -1."""
    trained = rule(cut_floor=floor)
    trained.pseudo_label(leads(*[[-5.0] * 4] * 3), at(0))
    trained.pseudo_label(leads(*[[3.0] * 4] * 3), at(1))
    trained.pseudo_label(leads(*[[3.0] * 4] * 3), at(2))
    assert trained.cuts[:, 0].tolist() == [cut] * 3


@pytest.mark.parametrize("classes", [2, 150])
def test_three_heads_of_one_mind_select_what_freematch_selects(classes):
    """With quantile 0 the cut is the smallest margin seen: every text with the same logits again is above it."""
    task = Task(classes, 3, pool_size=30)
    mine, theirs = MultiMatch(task, quantile=0.0, momentum=0.5), FreeMatch(task, momentum=0.5)
    logits = 4 * torch.randn(1, 30, classes, generator=torch.Generator().manual_seed(0)).expand(3, -1, -1)
    step = [Step(torch.arange(30), number, 10) for number in range(3)]
    for here in step:
        one, other = mine.pseudo_label(logits, here), theirs.pseudo_label(logits, here)
    for name in ("targets", "selected"):
        assert torch.equal(getattr(one, name), getattr(other, name))
    assert (one.weights == 1).all()
    assert 0 < one.selected.sum() < one.selected.numel()


def test_an_epoch_is_a_pass_over_the_pool_or_a_share_of_the_training():
    """20,000 texts by 1,024 in 300 steps: 20 steps, not a tenth of 300. By 80 in 800 steps: 80, not 250."""
    large = MultiMatch(Task(2, 3, pool_size=20_000))
    assert large.epoch_length(at(0, 300, torch.arange(1024))) == 20
    assert large.epoch_length(at(0, 800, torch.arange(80))) == 80


def test_cuts_change_at_the_end_of_an_epoch_only():
    trained = rule(epochs=1)
    half = torch.arange(2)
    seen = []
    for number in range(5):
        index = half + 2 * (number % 2)
        trained.pseudo_label(FIRST[:, index] * (1 + number), at(number, index=index))
        seen.append(trained.cuts.clone())
    changed = [not torch.equal(a, b) for a, b in pairwise(seen)]
    assert changed == [False, True, False, True]


def test_the_unsupervised_loss_is_a_mean_over_the_heads():
    """Equal strong logits: ln 2 each; head 2's weights 1 3 0 3 where selected, over 4 texts and 3 heads, w_u 2."""
    trained, labels = taught(unlabeled_weight=2.0)
    loss = trained.unsupervised_loss(torch.zeros(3, 4, 2), labels, at(1))
    torch.testing.assert_close(loss, 2 * log(2) * (labels.selected * labels.weights).sum(-1) / 4 / 3)


@pytest.mark.parametrize("networks", [1, 2, 3, 4])
def test_with_another_number_of_heads_the_next_two_vote(networks):
    task = Task(2, networks, pool_size=4)
    trained = MultiMatch(task, smoothing=1.0, momentum=0.0, quantile=0.0)
    logits = torch.cat([FIRST, FIRST[:1]])[:networks]
    for number in range(2):
        labels = trained.pseudo_label(logits, at(number))
    assert labels.selected.shape == (networks, 4)
    if networks == 1:
        assert torch.equal(labels.targets, logits.argmax(-1))


def test_two_heads_are_the_fewest_it_takes():
    """One vote is the other head's; a head alone would only hear itself."""
    wanted = {"algorithm": {"name": "multimatch"}}
    assert resolve({**wanted, "network": {"count": 2}}, "full").network.count == 2
    with pytest.raises(ConfigError, match="wanted at least 2"):
        resolve({**wanted, "network": {"count": 1}}, "full")
