"""Grids of runs -> results as JSON -> the paper's tables beside ours."""

from jointmatch.benchmark.experiment import Experiment
from jointmatch.benchmark.reading import load, shipped
from jointmatch.benchmark.results import Results, done_and_wanted
from jointmatch.benchmark.statistics import Difference, paired
from jointmatch.benchmark.store import Store

__all__ = ["Difference", "Experiment", "Results", "Store", "done_and_wanted", "load", "paired", "shipped"]
