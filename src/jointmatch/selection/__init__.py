"""Which pseudo-labels to trust, who teaches whom, and how much each counts."""

from jointmatch.selection.alignment import UniformAlignment, align
from jointmatch.selection.curriculum import CurriculumThreshold, learning_status
from jointmatch.selection.gaussian import GaussianWeight, truncated_gaussian
from jointmatch.selection.labelling import LABELLING, cross, others, own
from jointmatch.selection.schedules import linear_ramp, signal_level
from jointmatch.selection.self_adaptive import SelfAdaptiveThreshold
from jointmatch.selection.targets import sharpen
from jointmatch.selection.thresholds import AdaptiveThreshold, FixedThreshold, class_thresholds, confident
from jointmatch.selection.weighting import confidence_disagreement, label_disagreement, uniform

__all__ = [
    "LABELLING",
    "AdaptiveThreshold",
    "CurriculumThreshold",
    "FixedThreshold",
    "GaussianWeight",
    "SelfAdaptiveThreshold",
    "UniformAlignment",
    "align",
    "class_thresholds",
    "confidence_disagreement",
    "confident",
    "cross",
    "label_disagreement",
    "learning_status",
    "linear_ramp",
    "others",
    "own",
    "sharpen",
    "signal_level",
    "truncated_gaussian",
    "uniform",
]
