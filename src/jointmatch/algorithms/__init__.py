"""One file per paper. To add one: write the file, then add its line here."""

from jointmatch.algorithms.base import ALGORITHMS, Algorithm, build, check_settings, describe_settings, settings_of
from jointmatch.algorithms.fixmatch import FixMatch
from jointmatch.algorithms.jointmatch import JointMatch
from jointmatch.algorithms.pcm import PCM
from jointmatch.algorithms.s2tcbdd import S2TCBDD
from jointmatch.algorithms.sat import SAT
from jointmatch.algorithms.supervised import Supervised

__all__ = [
    "ALGORITHMS",
    "PCM",
    "S2TCBDD",
    "SAT",
    "Algorithm",
    "FixMatch",
    "JointMatch",
    "Supervised",
    "build",
    "check_settings",
    "describe_settings",
    "settings_of",
]
