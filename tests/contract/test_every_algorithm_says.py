"""What every algorithm says of itself by being registered: settings, ranges, rule, techniques, modes."""

import math
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest

from jointmatch.algorithms import ALGORITHMS, Algorithm, describe_settings, settings_of
from jointmatch.algorithms.catalogue import MODES, TECHNIQUES, idea, techniques
from jointmatch.config import faults_in
from jointmatch.errors import ConfigError
from jointmatch.resolve import resolve
from jointmatch.schema import Range
from tests.contract.test_every_algorithm import every_algorithm, made


def bad_values() -> list[tuple[str, str, object]]:
    """(algorithm, setting, value that does not fit) for everything declared."""
    found: list[tuple[str, str, object]] = []
    for name in sorted(ALGORITHMS):
        hints: dict[str, object] = {}
        for cls in reversed(ALGORITHMS[name].__mro__):
            if "__init__" in vars(cls) and issubclass(cls, Algorithm):
                hints |= get_type_hints(cls.__init__, include_extras=True)
        for key in settings_of(name):
            found += [(name, key, bad) for bad in ("no such value", None, math.nan, [0.5], *out_of_range(hints[key]))]
    return found


def out_of_range(hint: object) -> list[float]:
    if get_origin(hint) is not Annotated:
        return []
    bounds = next(extra for extra in get_args(hint) if isinstance(extra, Range))
    return [value for value in (bounds.low - 0.5, bounds.high + 0.5) if math.isfinite(value)]


@pytest.mark.parametrize(("name", "key", "value"), bad_values())
def test_a_value_of_the_wrong_type_or_out_of_range_is_refused_by_name(name, key, value):
    with pytest.raises(ConfigError, match=rf"algorithm\.{key}"):
        made(name, **{key: value})


@every_algorithm
def test_an_unknown_setting_is_refused_with_the_nearest_name(name):
    with pytest.raises(ConfigError, match="Did you mean 'unlabeled_weight'"):
        made(name, unlabelled_weight=1.0)


@every_algorithm
def test_every_fault_is_in_one_message(name):
    with pytest.raises(ConfigError) as caught:
        made(name, unlabeled_weight=-1, no_such_setting=1)
    assert len(caught.value.faults) == 2


@every_algorithm
def test_it_says_what_it_is(name):
    rule = ALGORITHMS[name]
    assert rule.name == name
    assert rule.reference
    assert rule.rule
    assert rule.networks >= 1
    assert idea(rule).endswith((".", "!"))
    assert len(idea(rule)) <= 120


@every_algorithm
def test_every_setting_is_explained(name):
    silent = set(settings_of(name)) - set(describe_settings(name))
    assert not silent, f"describe {', '.join(sorted(silent))} under 'Args:' in the docstring of the class"


@every_algorithm
def test_its_techniques_are_the_tables_and_a_statement_has_its_reason(name):
    rule = ALGORITHMS[name]
    assert list(made(name).composition()) == list(techniques(name)) == list(TECHNIQUES)
    assert set(rule.stated) <= set(TECHNIQUES)
    assert bool(rule.note) == bool(rule.stated)


@every_algorithm
def test_what_it_requires_of_other_sections_fits_them(name):
    assert faults_in(ALGORITHMS[name].requires) == []
    assert "algorithm" not in ALGORITHMS[name].requires


@every_algorithm
def test_a_mode_it_is_unsuited_for_is_refused_with_the_reason(name):
    rule = ALGORITHMS[name]
    assert set(rule.unsuited) < set(MODES)
    for mode in MODES:
        if mode not in rule.unsuited:
            resolve({"algorithm": {"name": name}}, mode)
            continue
        with pytest.raises(ConfigError) as refused:
            resolve({"algorithm": {"name": name}}, mode)
        assert f"{name} cannot be trained in mode {mode}: {rule.unsuited[mode]}" in str(refused.value)
