"""Which pseudo-labels to trust, who teaches whom, and how much each counts."""

from jointmatch.selection.agreement import AgreedThreshold, unanimous
from jointmatch.selection.angles import AngleBalance, angles_of
from jointmatch.selection.labelling import LABELLING, cross, others, own
from jointmatch.selection.ranking import ViewRanker, easiest, of_view
from jointmatch.selection.targets import sharpen
from jointmatch.selection.thresholds import AdaptiveThreshold, FixedThreshold, class_thresholds, confident
from jointmatch.selection.weighting import confidence_disagreement, label_disagreement, uniform

__all__ = [
    "LABELLING",
    "AdaptiveThreshold",
    "AgreedThreshold",
    "AngleBalance",
    "FixedThreshold",
    "ViewRanker",
    "angles_of",
    "class_thresholds",
    "confidence_disagreement",
    "confident",
    "cross",
    "easiest",
    "label_disagreement",
    "of_view",
    "others",
    "own",
    "sharpen",
    "unanimous",
    "uniform",
]
