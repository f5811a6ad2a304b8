"""The ensembles JointMatch is compared with (Zou and Caragea, 2023): networks trained independently of each other.

They are initialised differently and see the same batches; their probabilities are averaged, as for any algorithm.
"""

from __future__ import annotations

from jointmatch.algorithms.base import ALGORITHMS
from jointmatch.algorithms.fixmatch import FixMatch
from jointmatch.algorithms.freematch import FreeMatch


@ALGORITHMS.register("fixmatchensemble")
class FixMatchEnsemble(FixMatch):
    """Two networks under FixMatch, each taught by itself; they only predict together."""

    networks = 2


@ALGORITHMS.register("freematchensemble")
class FreeMatchEnsemble(FreeMatch):
    """Two networks under FreeMatch, each taught by itself; they only predict together."""

    networks = 2
