"""Leads over baselines, paired by text and by seed, with standard errors worked by hand."""

import numpy as np
import pytest

from jointmatch.leads import Hits, hits_on, leads_over_seeds, paired_leads, standard_error
from jointmatch.training.metrics import summary


def hits(texts: str = "digest", **right: str) -> Hits:
    return {"test": {"texts": texts, "right": right}}


def test_which_texts_were_right_is_a_digit_for_each():
    right = {"supervised": np.array([True, False, False]), "jointmatch": np.array([True, True, False])}
    assert hits_on("d", right) == {"texts": "d", "right": {"supervised": "100", "jointmatch": "110"}}


def test_the_lead_of_one_seed_is_paired_by_text():
    """Eight texts: only ours right on 3, only theirs on 1. Mean gain 2/8 = 0.25; squared deviations 4 - 8/16 = 3.5,
    divided by 7 (variance) and by 8: 0.0625, root 0.25. As if on different texts it would be
    sqrt((6/8 * 2/8 + 4/8 * 4/8) / 8) = 0.234, whether they agree on the other four or not.
    """
    leads = paired_leads([hits(jointmatch="11110110", supervised="00011110")], "jointmatch")
    assert leads == {"supervised": {"test": {"gain": 0.25, "standard_error": 0.25, "over": "texts alone"}}}


def test_methods_that_agree_on_most_texts_have_a_small_error():
    """100 texts, both half right, but ours is right on one more: the gain is 1/100, and so is its error."""
    ours, theirs = np.repeat([1, 0], [51, 49]), np.repeat([1, 0], [50, 50])
    assert standard_error((ours - theirs)[None]) == pytest.approx(0.01)


def test_the_error_over_seeds_and_texts_has_both_and_counts_what_is_left_once():
    """Two seeds on two texts, gains 1 1 / 1 0. Means over seeds 1, 1/2: variance 1/8, over 2 texts 1/16. Means over
    texts 1, 1/2: 1/16 likewise. Left: each is 1/4 off, 4/16 / (1 * 1) / 4 = 1/16. So 1/16 + 1/16 - 1/16, root 1/4.
    """
    assert standard_error(np.array([[1, 1], [1, 0]])) == pytest.approx(0.25)


def test_seeds_that_differ_on_no_more_than_single_texts_add_nothing():
    """Gains 1 0 / 0 1: both seeds and both texts have the mean 1/2, so there is no variance of either."""
    assert standard_error(np.array([[1, 0], [0, 1]])) == 0.0


def test_seeds_with_the_same_gains_are_as_unsure_as_one_of_them():
    one = np.array([[1, 0, -1, 1, 0, 0]])
    assert standard_error(np.repeat(one, 3, axis=0)) == pytest.approx(standard_error(one))


def test_texts_with_the_same_gains_leave_the_error_over_seeds():
    """Gains of 1, 0 and 0 on each of four texts: variance over seeds 1/3, divided by 3 seeds: 1/9."""
    assert standard_error(np.repeat([[1], [0], [0]], 4, axis=1)) == pytest.approx(1 / 3)


def test_one_text_tells_nothing_of_the_error():
    assert standard_error(np.array([[1]])) == standard_error(np.array([[1], [0]])) == 0.0


@pytest.mark.parametrize(("seeds", "of_seeds", "covered"), [(1, 0.0, 0.95), (3, 0.0, 0.95), (5, 0.3, 0.92)])
def test_the_error_is_that_of_leads_on_other_texts_and_seeds(seeds, of_seeds, covered):
    """Draw 500 times 100 texts: the mean estimated variance is that of the leads, and 1.96 errors hold most of them.

    A text is right where its ease, the seed's luck and chance come to more than a bar. No variance is taken as
    negative, so where seeds add nothing, the estimate is somewhat too large. Five seeds show their own variance only
    roughly: were it all there is, 0.88 would be covered (t with four degrees of freedom).
    """
    rng, bars = np.random.default_rng(0), np.array([-1.5, -1.2]).reshape(2, 1, 1)
    draws = []
    for _ in range(500):
        ease = rng.normal(size=(1, 1, 100)) + rng.normal(size=(2, 1, 100))
        luck, chance = of_seeds * rng.normal(size=(2, seeds, 1)), rng.normal(size=(2, seeds, 100))
        ours, theirs = (ease + luck + chance > bars).astype(int)
        draws.append(((ours - theirs).mean(), standard_error(ours - theirs)))
    leads, errors = np.array(draws).T
    assert 0.93 < np.sqrt((errors**2).mean()) / leads.std() < 1.15
    assert (abs(leads - leads.mean()) < 1.96 * errors).mean() == pytest.approx(covered, abs=0.03)


def test_several_seeds_on_the_same_texts_are_paired_by_both():
    """Gains 1 1 / 1 0, as above."""
    runs = [hits(jointmatch="11", supervised="00"), hits(jointmatch="11", supervised="01")]
    lead = paired_leads(runs, "jointmatch")["supervised"]["test"]
    assert lead == {"gain": 0.75, "standard_error": pytest.approx(0.25), "over": "seeds and texts"}


@pytest.mark.parametrize("other", [{}, hits("others", jointmatch="11", supervised="00"), hits(jointmatch="11")])
def test_a_seed_on_other_texts_or_without_a_record_of_them_is_not_paired(other):
    one = hits(jointmatch="11", supervised="00")
    assert paired_leads([one, other], "jointmatch") == paired_leads([other, one], "jointmatch") == {}


def test_the_algorithm_has_no_lead_over_itself_or_its_networks_alone():
    assert paired_leads([hits(jointmatch="11", networks_alone="00")], "jointmatch") == {}
    rows = {name: {"test": {"accuracy": summary([0.5, 0.6])}} for name in ("networks_alone", "jointmatch")}
    assert leads_over_seeds(rows, "jointmatch") == {}


@pytest.mark.parametrize(
    ("gains", "gain", "error"), [((0.05, -0.03), 0.01, 0.04), ((0.05, 0.03), 0.04, 0.01), ((0.02,), 0.02, 0.0)]
)
def test_the_error_over_seeds_alone_is_that_of_the_gains_seed_by_seed(gains, gain, error):
    """Gains of 0.05 and -0.03: mean 0.01, deviation 0.0566, over the root of 2 seeds 0.04. One seed cannot tell."""
    bases = [0.5, 0.8][: len(gains)]
    values = {"supervised": bases, "jointmatch": [base + own for base, own in zip(bases, gains, strict=True)]}
    rows = {name: {"test": {"accuracy": summary(of_name)}} for name, of_name in values.items()}
    lead = leads_over_seeds(rows, "jointmatch")["supervised"]["test"]
    assert lead == {"gain": pytest.approx(gain), "standard_error": pytest.approx(error), "over": "seeds alone"}
