"""Draws of texts that are taught a class that does not exist, and the cut they set."""

import pytest
import torch

from jointmatch.selection import VirtualTexts
from jointmatch.types import Step, Task

POOL = 40


def virtual(share=0.1, draws=2, between=(0.2, 0.8), percentile=0.5, networks=1, **task):
    return VirtualTexts(Task(2, networks, POOL, **task), share, draws, between, 1.0, percentile)


def at(number, index=None):
    return Step(torch.arange(POOL) if index is None else index, number, 10)


def told(texts, number, margins=None):
    return texts(torch.zeros(len(texts.cut), POOL) if margins is None else margins, at(number))


def test_draws_follow_each_other_between_two_shares_of_the_training():
    """10 steps, from 2 to 8, two draws of three steps."""
    texts = virtual()
    assert [texts.draw_at(number, 10) for number in range(10)] == [-1, -1, 0, 0, 0, 1, 1, 1, -1, -1]


def test_a_share_of_the_pool_is_virtual_while_a_draw_is_in_force():
    texts = virtual()
    chosen = [told(texts, number) for number in range(10)]
    assert [int(c.sum()) for c in chosen] == [0, 0, 4, 4, 4, 4, 4, 4, 0, 0]
    assert torch.equal(chosen[2], chosen[4])
    assert torch.equal(chosen[5], chosen[7])
    assert not torch.equal(chosen[2], chosen[5])


@pytest.mark.parametrize(("share", "classes", "size"), [(0.1, 2, 4), (0.9, 2, 20), (0.9, 15, 2), (0.01, 2, 0)])
def test_never_more_than_one_in_c_is_virtual(share, classes, size):
    texts = VirtualTexts(Task(classes, 1, POOL), share, 1, (0.0, 1.0), 1.0, 0.5)
    assert int(told(texts, 0).sum()) == texts.size == size
    assert texts.margins.mean.shape == (1, size + 1, 1)


def test_a_draw_of_one_step_is_over_at_the_next():
    """10 steps, from 2 to 3."""
    texts = virtual(draws=1, between=(0.2, 0.3))
    assert [int(told(texts, number).sum()) for number in range(5)] == [0, 0, 4, 0, 0]


def test_draws_are_the_seeds_own():
    chosen = [told(virtual(between=(0.0, 1.0), seed=seed), 0) for seed in (0, 0, 1)]
    assert torch.equal(chosen[0], chosen[1])
    assert not torch.equal(chosen[0], chosen[2])


def test_the_cut_is_open_then_zero_then_a_percentile_of_the_draw_before():
    """Margins -1 ... -40 of the pool, those of the four virtual texts a < b < c < d over the first draw: number
    floor(0.5 * 4) = 2 is c, from the second draw on. The second draw's own margins are 5: the cut after it.
    """
    texts = virtual()
    margins = -torch.arange(1.0, POOL + 1).expand(1, -1)
    cuts, chosen = [], []
    for number in range(10):
        chosen.append(told(texts, number, margins if number < 5 else torch.full((1, POOL), 5.0)))
        cuts.append(texts.cut.item())
    third = margins[0, chosen[2]].sort().values[2].item()
    assert cuts == [-torch.inf] * 2 + [0.0] * 3 + [third] * 3 + [5.0] * 2


def test_only_texts_that_were_met_set_the_cut():
    texts = virtual(networks=2)
    first = told(texts, 2).nonzero().flatten()
    texts.margins.reset()
    texts(torch.tensor([[3.0], [4.0]]), at(3, first[:1]))
    told(texts, 5)
    assert texts.cut.tolist() == [[3.0], [4.0]]


def test_a_draw_of_which_nothing_was_met_leaves_the_cut():
    texts = virtual()
    none = torch.empty(0, dtype=torch.long)
    for number in range(6):
        texts(torch.zeros(1, 0), at(number, none))
    assert texts.cut.item() == 0.0


def test_asked_twice_at_a_step_it_draws_once():
    texts = virtual()
    told(texts, 2, torch.full((1, POOL), 7.0))
    told(texts, 2, torch.full((1, POOL), 7.0))
    assert texts.cut.item() == 0.0
    assert texts.margins.visits[: texts.size].tolist() == [2.0] * 4
