"""The suites by their names in experiment files; the default is a grid of runs."""

from __future__ import annotations

from jointmatch.benchmark.data_suite import DataStatistics
from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.grid import Grid
from jointmatch.benchmark.race import Race
from jointmatch.benchmark.speed_suite import Speed
from jointmatch.benchmark.store import Store
from jointmatch.benchmark.suite import Options, Suite
from jointmatch.data.datasets import BENCHMARKS, is_known
from jointmatch.errors import did_you_mean

SUITES: dict[str, Suite] = {"grid": Grid(), "data": DataStatistics(), "speed": Speed(), "race": Race()}


def suite_of(experiment: Experiment) -> Suite:
    """The suite that runs an experiment; reading its file has checked that there is one of that name."""
    return SUITES[experiment.suite]


def strangers(experiment: Experiment, store: Store, backbone: str) -> str | None:
    """A line on data sets that nothing is known of here, as a misspelt one; None if there are none."""
    unknown = [data for data in experiment.data if data != "demo" and not is_known(data)]
    names = [d for d in unknown if not suite_of(experiment).progress(experiment.on_sets([d]), store, backbone)[0]]
    if not names:
        return None
    near = "".join(did_you_mean(name, BENCHMARKS) for name in names)
    own = "A data set of your own is run from its folder in --data-dir."
    return f"No results, and no known benchmark: {', '.join(names)}.{near} {own}"


__all__ = ["SUITES", "Options", "Suite", "strangers", "suite_of"]
