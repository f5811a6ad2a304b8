"""Which text stands for a row, at which step."""

from dataclasses import replace

import pytest

from jointmatch.augment import Surroundings
from jointmatch.config import AugmentConfig
from jointmatch.data import Splits, Texts
from jointmatch.training import Listener, ViewMaker, Views
from jointmatch.training.lite import _side_by_side
from tests.conftest import topic_texts

TEXTS, _ = topic_texts(12)
PART = Texts(TEXTS, [-1] * 12)
ROWS = range(12)


SPLITS = Splits(["a", "b"], Texts(["labelled one", "labelled two"], [0, 1]), PART)


def views(weak="deletion:0.5", strong=("deletion:0.5", "masking:0.5"), seed=0):
    return Views(AugmentConfig(weak, strong), seed)


def made(own: Views, splits: Splits = SPLITS) -> Views:
    ViewMaker(splits, Surroundings("[MASK]"), Listener()).make(own, everything=True)
    return own


@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_a_view_is_a_function_of_the_rows_and_the_draws_seed(kind):
    def seen(draw):
        return getattr(views(), kind)(PART, ROWS, draw)

    assert seen(3) == seen(3)
    assert seen(3) != seen(4)


def test_fixed_views_are_the_same_in_every_run_so_that_their_features_are_computed_once():
    assert made(views()).fixed_weak(PART) == made(views(seed=1)).fixed_weak(PART)
    assert made(views()).fixed_strong(PART) == made(views(seed=1)).fixed_strong(PART)
    assert made(views()).fixed_weak(PART) != TEXTS


def test_each_row_gets_one_of_the_strong_augmenters_by_the_draws_seed():
    def masked(draw):
        return ["[MASK]" in text for text in views(strong=("none", "masking:1")).strong(PART, ROWS, draw)]

    assert set(masked(0)) == {True, False}
    assert masked(0) == masked(0)
    assert masked(0) != masked(1)


def test_rows_come_in_the_order_asked_for():
    assert views(weak="none").weak(PART, [5, 2], 0) == [TEXTS[5], TEXTS[2]]
    assert views(strong=("none",)).strong(PART, [5, 2], 0) == [TEXTS[5], TEXTS[2]]


def test_the_users_own_columns_win_over_augmenters():
    own = Texts(TEXTS, [-1] * 12, weak=[f"w{i}" for i in ROWS], strong=[f"s{i}" for i in ROWS])
    assert views().weak(own, [5, 2], 0) == ["w5", "w2"]
    assert views().strong(own, [5, 2], 0) == ["s5", "s2"]
    assert made(views(), replace(SPLITS, pool=own)).fixed_strong(own) == [[f"s{i}" for i in ROWS]]


def test_fixed_views_are_one_list_per_strong_augmenter():
    fixed = made(views(strong=("none", "masking:0.9"))).fixed_strong(PART)
    assert fixed[0] == TEXTS
    assert all("[MASK]" in text for text in fixed[1])


def test_networks_share_one_view_unless_each_is_given_its_own():
    assert len(views().for_networks(3)) == 1
    config = AugmentConfig("none", ("none",), strong_per_network=("none", "masking:1"))
    own = Views(config, 0).for_networks(3)
    seen = [["[MASK]" in text for text in reader.strong(PART, ROWS, 5)] for reader in own]
    assert [any(masked) for masked in seen] == [False, True, False]
    assert all(reader.weak(PART, ROWS, 5) == TEXTS for reader in own)


def test_two_networks_with_the_same_augmenter_of_their_own_see_different_texts():
    config = AugmentConfig("none", ("none",), weak_per_network=("deletion:0.5",))
    first, second = Views(config, 0).for_networks(2)
    assert first.weak(PART, ROWS, 5) != second.weak(PART, ROWS, 5)
    assert made(first).fixed_weak(PART) != made(second).fixed_weak(PART)


def test_kept_views_come_draw_by_draw_so_that_view_i_is_of_the_ith_kind_as_in_full():
    config = AugmentConfig("none", ("masking:0.9", "deletion:0.5", "none"), views=2)
    fixed = made(Views(config, 0)).fixed_strong(PART)
    masked = [all("[MASK]" in text for text in column) for column in fixed]
    assert masked == [True, False, False, True, False]  # what does nothing is kept once
    assert fixed[2] == TEXTS


def test_networks_with_fewer_kept_views_begin_theirs_anew():
    columns = [[["a1"], ["a2"], ["a3"]], [["b1"]]]
    assert list(_side_by_side(columns)) == [(["a1"], ["b1"]), (["a2"], ["b1"]), (["a3"], ["b1"])]
    assert list(_side_by_side([])) == []
