"""The suites by their names in experiment files; the default is a grid of runs."""

from __future__ import annotations

from jointmatch.benchmark.data_suite import DataStatistics
from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.grid import Grid
from jointmatch.benchmark.race import Race
from jointmatch.benchmark.speed_suite import Speed
from jointmatch.benchmark.suite import Options, Suite
from jointmatch.errors import InputError, did_you_mean

SUITES: dict[str, Suite] = {"grid": Grid(), "data": DataStatistics(), "speed": Speed(), "race": Race()}


def suite_of(experiment: Experiment) -> Suite:
    """The suite that runs an experiment."""
    name = experiment.suite
    if name not in SUITES:
        known = ", ".join(SUITES)
        raise InputError(f"{experiment.name} names the suite {name!r}.{did_you_mean(name, SUITES)} Known: {known}.")
    return SUITES[name]


__all__ = ["SUITES", "Options", "Suite", "suite_of"]
