"""Paired differences, worked by hand."""

import pytest

from jointmatch.benchmark import paired


def test_the_interval_is_students_over_the_differences_of_each_seed():
    """Differences 1, 2, 3: mean 2, standard deviation 1, error 1 / sqrt 3 = 0.5774; t(2 degrees, 97.5 %) = 4.3027;
    so 2 +- 2.4841."""
    found = paired({0: 11, 1: 22, 2: 33}, {0: 10, 1: 20, 2: 30})
    assert found is not None
    assert (found.n, found.mean) == (3, 2)
    assert (found.low, found.high) == pytest.approx((-0.4841, 4.4841), abs=1e-4)
    assert not found.is_real


def test_five_seeds_tell_a_steady_difference_from_none():
    """Differences 1, 2, 3, 2, 2: mean 2, squares 1 + 1 = 2, s = sqrt(2 / 4) = 0.7071, error 0.3162; t(4) = 2.7764; so
    2 +- 0.8780, which leaves out 0. The spread of the values themselves, 10 to 50, does not matter."""
    a, b = dict(enumerate([11, 22, 33, 42, 52])), dict(enumerate([10, 20, 30, 40, 50]))
    found = paired(a, b)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((1.1220, 2.8780), abs=1e-4)
    assert found.is_real
    other = paired(b, a)
    assert other is not None
    assert other.is_real
    assert other.mean == -2


def test_only_seeds_that_both_have_are_compared():
    found = paired({0: 5, 1: 7, 2: 100}, {1: 6, 0: 3, 9: 0})
    assert found is not None
    assert (found.n, found.mean) == (2, 1.5)


def test_one_common_seed_tells_nothing():
    assert paired({0: 1.0, 1: 2.0}, {1: 5.0}) is None


def test_differences_that_are_all_alike_have_no_width():
    found = paired({0: 1.0, 1: 2.0, 2: 5.0}, {0: 0.0, 1: 1.0, 2: 4.0})
    assert found is not None
    assert (found.low, found.high) == (1, 1)
    assert found.is_real
    two = paired({0: 1.0, 1: 2.0}, {0: 0.0, 1: 1.0})
    assert two is not None
    assert not two.is_real
    rounded = paired({0: 0.1 + 0.2, 1: 0.3}, {0: 0.1, 1: 0.1})  # 0.30000000000000004 and 0.3, less 0.1
    assert rounded is not None
    assert rounded.high > rounded.low
    assert not rounded.is_real
    nothing = paired({0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0})
    assert nothing is not None
    assert not nothing.is_real
