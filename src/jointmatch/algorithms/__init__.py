"""One file per paper. To add one: write the file, then add its line here."""

from jointmatch.algorithms.base import ALGORITHMS, Algorithm, build, check_settings, describe_settings, settings_of
from jointmatch.algorithms.crisismatch import CrisisMatch
from jointmatch.algorithms.decrisismb import DeCrisisMB
from jointmatch.algorithms.fixmatch import FixMatch
from jointmatch.algorithms.jointmatch import JointMatch
from jointmatch.algorithms.meanteacher import MeanTeacher
from jointmatch.algorithms.mixtext import MixText
from jointmatch.algorithms.supervised import Supervised

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "CrisisMatch",
    "DeCrisisMB",
    "FixMatch",
    "JointMatch",
    "MeanTeacher",
    "MixText",
    "Supervised",
    "build",
    "check_settings",
    "describe_settings",
    "settings_of",
]
