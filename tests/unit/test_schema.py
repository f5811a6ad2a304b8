"""Values are fitted to annotations; whatever does not fit is a fault that says what was wanted."""

from typing import Any, Literal

import pytest

from jointmatch.schema import AtLeastOne, Count, Fraction, NonNegative, Positive, Range, check

HINTS: dict[str, Any] = {
    "share": Fraction,
    "rate": Positive,
    "weight": NonNegative,
    "count": Count,
    "steps": AtLeastOne,
    "maybe": AtLeastOne | None,
    "flag": bool,
    "name": str,
    "either": str | int | None,
    "mode": Literal["lite", "full"],
    "shares": tuple[Fraction, ...],
    "names": tuple[str, ...],
}


@pytest.mark.parametrize(
    ("key", "value", "fitted"),
    [
        ("share", 0, 0.0),
        ("share", 1, 1.0),
        ("share", 0.5, 0.5),
        ("rate", 1e-5, 1e-5),
        ("weight", 0, 0.0),
        ("count", 0, 0),
        ("steps", 1, 1),
        ("maybe", None, None),
        ("maybe", 3, 3),
        ("flag", False, False),
        ("name", "", ""),
        ("either", "x", "x"),
        ("either", -1, -1),
        ("either", None, None),
        ("mode", "full", "full"),
        ("shares", [1, 0.5], (1.0, 0.5)),
        ("shares", 0.5, (0.5,)),
        ("names", "one", ("one",)),
        ("names", ["one", "two"], ("one", "two")),
    ],
)
def test_a_value_that_fits_comes_back_in_its_type(key, value, fitted):
    found, faults = check(HINTS, {key: value}, "s")
    assert faults == []
    assert found == {key: fitted}
    assert type(found[key]) is type(fitted)


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("share", 1.01, "a number from 0 to 1"),
        ("share", -0.01, "a number from 0 to 1"),
        ("share", "half", "a number from 0 to 1"),
        ("share", True, "a number from 0 to 1"),
        ("share", float("nan"), "a number from 0 to 1"),
        ("weight", float("inf"), "a number at least 0"),
        ("rate", 0, "a number at least 1e-12"),
        ("count", -1, "a number at least 0"),
        ("count", 1.0, "a whole number at least 0"),
        ("count", False, "a whole number at least 0"),
        ("steps", 0, "a number at least 1"),
        ("steps", "10", "a whole number at least 1"),
        ("maybe", 0, "a number at least 1"),
        ("flag", "True", "true or false"),
        ("flag", 1, "true or false"),
        ("name", 5, "text"),
        ("name", None, "text"),
        ("either", 1.5, "text or a whole number"),
        ("mode", "lit", "one of 'lite', 'full'"),
        ("mode", ["lite"], "one of 'lite', 'full'"),
        ("shares", [0.5, 2], "a number from 0 to 1"),
        ("names", [1], "text"),
    ],
)
def test_a_value_that_does_not_fit_is_a_fault_with_the_value_and_what_was_wanted(key, value, wanted):
    found, faults = check(HINTS, {key: value}, "s")
    assert found == {}
    assert faults == [f"s.{key} is {value!r}, wanted {wanted}"]


@pytest.mark.parametrize("value", [None, {"one": 1}])
def test_what_is_no_list_is_a_fault_where_a_list_is_wanted(value):
    found, faults = check(HINTS, {"names": value}, "s")
    assert found == {}
    assert len(faults) == 1


def test_a_whole_number_beyond_any_float_is_a_fault():
    assert len(check(HINTS, {"rate": 10**400}, "s")[1]) == 1


def test_an_unknown_key_is_a_fault_with_the_nearest_and_all_known_ones():
    (fault,) = check({"tau": Fraction, "delta": Fraction}, {"detla": 0.5}, "algorithm")[1]
    assert fault == "unknown key algorithm.detla. Did you mean 'delta'? Known in algorithm: delta, tau"


def test_every_fault_is_listed_and_what_fits_is_kept():
    found, faults = check(HINTS, {"share": 2, "steps": 5, "flga": True, "mode": "x"}, "s")
    assert found == {"steps": 5}
    assert [fault.split()[0] for fault in faults] == ["s.share", "unknown", "s.mode"]


@pytest.mark.parametrize(("value", "inside"), [(0, True), (1, True), (-1e-9, False), (1.1, False)])
def test_both_ends_of_a_range_belong_to_it(value, inside):
    assert (value in Range(0, 1)) is inside
