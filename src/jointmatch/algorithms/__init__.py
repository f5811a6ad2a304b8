"""One file per paper. To add one: write the file, then add its line here."""

from jointmatch.algorithms.base import ALGORITHMS, Algorithm, build, check_settings, describe_settings, settings_of
from jointmatch.algorithms.coteaching import CoTeaching
from jointmatch.algorithms.coteachingplus import CoTeachingPlus
from jointmatch.algorithms.cotraining import CoTraining
from jointmatch.algorithms.decoupling import Decoupling
from jointmatch.algorithms.fixmatch import FixMatch
from jointmatch.algorithms.jointmatch import JointMatch
from jointmatch.algorithms.supervised import Supervised

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "CoTeaching",
    "CoTeachingPlus",
    "CoTraining",
    "Decoupling",
    "FixMatch",
    "JointMatch",
    "Supervised",
    "build",
    "check_settings",
    "describe_settings",
    "settings_of",
]
