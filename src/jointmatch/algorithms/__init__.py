"""One file per paper. To add one: write the file, then add its import and its name here."""

from jointmatch.algorithms.aumst import AUMST
from jointmatch.algorithms.base import (
    ALGORITHMS,
    Algorithm,
    build,
    check_settings,
    describe_settings,
    networks_of,
    settings_of,
    too_few_networks,
)
from jointmatch.algorithms.coteaching import CoTeaching
from jointmatch.algorithms.coteachingplus import CoTeachingPlus
from jointmatch.algorithms.cotraining import CoTraining
from jointmatch.algorithms.crisismatch import CrisisMatch
from jointmatch.algorithms.decoupling import Decoupling
from jointmatch.algorithms.decrisismb import DeCrisisMB
from jointmatch.algorithms.ensembles import FixMatchEnsemble, FreeMatchEnsemble
from jointmatch.algorithms.fixmatch import FixMatch
from jointmatch.algorithms.flexmatch import FlexMatch
from jointmatch.algorithms.freematch import FreeMatch
from jointmatch.algorithms.jointmatch import JointMatch
from jointmatch.algorithms.marginmatch import MarginMatch
from jointmatch.algorithms.meanteacher import MeanTeacher
from jointmatch.algorithms.mixtext import MixText
from jointmatch.algorithms.multimatch import MultiMatch
from jointmatch.algorithms.pcm import PCM
from jointmatch.algorithms.pseudolabel import PseudoLabel
from jointmatch.algorithms.s2tcbdd import S2TCBDD
from jointmatch.algorithms.sat import SAT
from jointmatch.algorithms.softmatch import SoftMatch
from jointmatch.algorithms.supervised import Supervised
from jointmatch.algorithms.uda import UDA

__all__ = [
    "ALGORITHMS",
    "AUMST",
    "PCM",
    "S2TCBDD",
    "SAT",
    "UDA",
    "Algorithm",
    "CoTeaching",
    "CoTeachingPlus",
    "CoTraining",
    "CrisisMatch",
    "DeCrisisMB",
    "Decoupling",
    "FixMatch",
    "FixMatchEnsemble",
    "FlexMatch",
    "FreeMatch",
    "FreeMatchEnsemble",
    "JointMatch",
    "MarginMatch",
    "MeanTeacher",
    "MixText",
    "MultiMatch",
    "PseudoLabel",
    "SoftMatch",
    "Supervised",
    "build",
    "check_settings",
    "describe_settings",
    "networks_of",
    "settings_of",
    "too_few_networks",
]
