"""What changes with the share of the training that is done."""

from math import exp

import pytest

from jointmatch.selection import linear_ramp, signal_level


@pytest.mark.parametrize(("progress", "factor"), [(0.0, 0.0), (0.1, 0.25), (0.3, 0.75), (0.4, 1.0), (0.9, 1.0)])
def test_a_ramp_over_four_tenths_grows_evenly_and_then_stays(progress, factor):
    """0.1 / 0.4 = 0.25, 0.3 / 0.4 = 0.75."""
    assert linear_ramp(progress, 0.4) == pytest.approx(factor)


def test_a_ramp_over_nothing_is_one_from_the_start():
    assert linear_ramp(0.0, 0.0) == 1.0


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
