"""Several seeds as one: what is held together, and what not every seed has."""

from typing import Any

from jointmatch.seeds import summarize


def result(**rates: float) -> dict[str, Any]:
    return {
        "algorithm": "jointmatch",
        "scores": {},
        "cross_validation": {name: {"accuracy": rate} for name, rate in rates.items()},
    }


def test_rates_of_a_cross_validation_are_summed_up_by_method():
    rows = summarize([result(jointmatch=0.8, supervised=0.6), result(jointmatch=0.9, supervised=0.6)])
    assert list(rows) == ["jointmatch", "supervised"]
    assert rows["jointmatch"]["cross-validation"]["accuracy"]["values"] == [0.8, 0.9]


def test_what_not_every_seed_has_is_left_out():
    """One draw of the labels leaves a pool that is large enough to teach a reader, the other does not."""
    both, one = result(jointmatch=0.8, networks_alone=0.7), result(jointmatch=0.9)
    assert list(summarize([both, one])) == list(summarize([one, both])) == ["jointmatch"]
