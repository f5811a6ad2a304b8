"""Who is mixed with whom: permutations, draws among the usable, shares."""

import numpy as np
import pytest
import torch

from jointmatch.selection import MIXING_DEPTHS, drawn_among, labelled_apart, own_share, permuted


class Chance(np.random.Generator):
    """A generator that gives what a test wants."""

    def __init__(self, *values):
        super().__init__(np.random.PCG64())
        self.values = np.array(values)

    def random(self, count):  # type: ignore[override]
        return self.values[:count]

    def beta(self, a, b):  # type: ignore[override]
        return self.values[0]


@pytest.mark.parametrize(("drawn", "share"), [(0.3, 0.7), (0.7, 0.7), (0.5, 0.5), (1.0, 1.0), (0.0, 1.0)])
def test_a_text_stays_at_least_half_itself(drawn, share):
    """l = max(l, 1 - l)."""
    assert own_share(16.0, Chance(drawn)) == pytest.approx(share)


def test_a_large_alpha_mixes_half_and_half_and_a_small_one_hardly():
    """The mean of max(l, 1 - l) is 0.5 + mean |l - 0.5|: Beta(16, 16) has a standard deviation of 0.5 / sqrt(33) =
    0.087 and a mean distance of about 0.8 of it, 0.57; of Beta(1, 1), which is uniform, it is 0.75."""
    means = [np.mean([own_share(a, np.random.default_rng(i)) for i in range(4000)]) for a in (16.0, 1.0)]
    assert means == pytest.approx([0.5695, 0.75], abs=0.01)


def test_a_permutation_has_everyone_as_a_partner_once():
    partner = permuted(20, np.random.default_rng(0))
    assert sorted(partner.tolist()) == list(range(20))
    assert partner.tolist() != list(range(20))


def test_a_draw_takes_the_usable_text_its_chance_falls_on():
    """First network, usable 1, 3 and 4: chances 0, 0.32, 0.34, 0.67, 0.99 of three are ranks 0 0 1 2 2: 1 1 3 4 4.
    Second network, usable 0 and 1: ranks 0 0 0 1 1."""
    usable = torch.tensor([[False, True, False, True, True], [True, True, False, False, False]])
    partner = drawn_among(usable, 5, Chance(0.0, 0.32, 0.34, 0.67, 0.99))
    assert partner.tolist() == [[1, 1, 3, 4, 4], [0, 0, 0, 1, 1]]


def test_every_usable_text_is_drawn_equally_often_and_no_other_ever():
    usable = torch.tensor([[True, False, True, False, False, True, False]])
    partner = drawn_among(usable, 30_000, np.random.default_rng(0))[0]
    counts = torch.bincount(partner, minlength=7)
    assert counts[~usable[0]].tolist() == [0, 0, 0, 0]
    torch.testing.assert_close(counts[usable[0]] / 30_000, torch.full((3,), 1 / 3), atol=0.015, rtol=0)


def test_nothing_usable_gives_a_place_in_the_batch_all_the_same():
    partner = drawn_among(torch.zeros(1, 4, dtype=torch.bool), 4, np.random.default_rng(0))
    assert ((partner >= 0) & (partner < 4)).all()


def test_labelled_texts_are_mixed_among_themselves_and_the_others_with_labelled_and_selected_ones():
    selected = torch.tensor([[True, False, False, True], [False, False, False, False]])
    for seed in range(50):
        partner = labelled_apart(3, 2, selected, np.random.default_rng(seed))
        assert partner.shape == (2, 7)
        assert sorted(partner[0, :3].tolist()) == sorted(partner[1, :3].tolist()) == [0, 1, 2]
        assert set(partner[0, 3:].tolist()) <= {0, 1, 2, 3, 6}
        assert set(partner[1, 3:].tolist()) <= {0, 1, 2}


def test_without_unlabelled_texts_only_labelled_ones_are_mixed():
    assert sorted(labelled_apart(4, 3, None, np.random.default_rng(0))[2].tolist()) == [0, 1, 2, 3]


def test_without_labelled_texts_the_selected_ones_are_mixed():
    partner = labelled_apart(0, 1, torch.tensor([[False, True, True]]), np.random.default_rng(0))
    assert partner.shape == (1, 3)
    assert set(partner[0].tolist()) <= {1, 2}


def test_the_depths_are_mixtexts_layers_of_a_twelve_layer_encoder():
    assert [12 * depth for depth in MIXING_DEPTHS] == [7, 9, 12]
