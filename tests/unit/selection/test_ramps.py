"""Weights that grow: the ends, the middle, and no way to go."""

from math import exp

import pytest

from jointmatch.selection import linear_ramp, sigmoid_ramp, signal_level


@pytest.mark.parametrize(
    ("done", "length", "share"), [(0, 1000, 0), (250, 1000, 0.25), (1000, 1000, 1), (1500, 1000, 1)]
)
def test_a_linear_ramp_is_the_share_of_the_way(done, length, share):
    assert linear_ramp(done, length) == share


@pytest.mark.parametrize("ramp", [linear_ramp, sigmoid_ramp])
@pytest.mark.parametrize("done", [0, 3])
def test_without_a_length_it_has_grown_from_the_start(ramp, done):
    assert ramp(done, 0) == 1.0


@pytest.mark.parametrize(
    ("done", "value"), [(0, exp(-5)), (0.25, exp(-5 * 0.25)), (0.4, exp(-5 * 0.04)), (0.5, 1.0), (0.9, 1.0)]
)
def test_a_sigmoid_ramp_by_hand(done, value):
    """Length 0.5: at 0.25 exp(-5 * 0.5^2), at 0.4 exp(-5 * 0.2^2), past the end 1 and not back down."""
    assert sigmoid_ramp(done, 0.5) == pytest.approx(value)


@pytest.mark.parametrize(
    ("schedule", "start", "half", "end"),
    [
        ("none", 1.0, 1.0, 1.0),
        ("linear", 0.0, 0.5, 1.0),
        ("log", 0.0, 1 - exp(-2.5), 1 - exp(-5)),
        ("exp", exp(-5), exp(-2.5), 1.0),
    ],
)
def test_the_level_rises_from_one_over_c_as_scheduled(schedule, start, half, end):
    """C = 4: alpha * 3/4 + 1/4, at half of the training 0.625 (linear), 0.938436 (log), 0.311564 (exp)."""
    for progress, alpha in ((0.0, start), (0.5, half), (1.0, end)):
        assert signal_level(progress, schedule, 4) == pytest.approx(0.75 * alpha + 0.25)
