"""Which pseudo-labels to trust, who teaches whom, and how much each counts."""

from jointmatch.selection.alignment import Alignment, align
from jointmatch.selection.curriculum import CurriculumThreshold, learning_status
from jointmatch.selection.delta import Delta, DeltaRule
from jointmatch.selection.gaussian import GaussianWeight, truncated_gaussian
from jointmatch.selection.labelling import LABELLING, cross, others, own
from jointmatch.selection.schedules import linear_ramp, signal_level
from jointmatch.selection.self_adaptive import SelfAdaptiveThreshold
from jointmatch.selection.small_loss import exchanged, exchanged_where_labels_differ, keep_share, smallest
from jointmatch.selection.targets import sharpen
from jointmatch.selection.thresholds import AdaptiveThreshold, FixedThreshold, class_thresholds, confident
from jointmatch.selection.weighting import confidence_disagreement, label_disagreement, mean_one, uniform

__all__ = [
    "LABELLING",
    "AdaptiveThreshold",
    "Alignment",
    "CurriculumThreshold",
    "Delta",
    "DeltaRule",
    "FixedThreshold",
    "GaussianWeight",
    "SelfAdaptiveThreshold",
    "align",
    "class_thresholds",
    "confidence_disagreement",
    "confident",
    "cross",
    "exchanged",
    "exchanged_where_labels_differ",
    "keep_share",
    "label_disagreement",
    "learning_status",
    "linear_ramp",
    "mean_one",
    "others",
    "own",
    "sharpen",
    "signal_level",
    "smallest",
    "truncated_gaussian",
    "uniform",
]
