"""Which pseudo-labels to trust, who teaches whom, and how much each counts."""

from jointmatch.selection.alignment import Alignment, align
from jointmatch.selection.delta import Delta, DeltaRule
from jointmatch.selection.labelling import LABELLING, cross, others, own
from jointmatch.selection.small_loss import exchanged, exchanged_where_labels_differ, keep_share, smallest
from jointmatch.selection.targets import sharpen
from jointmatch.selection.thresholds import AdaptiveThreshold, FixedThreshold, class_thresholds, confident
from jointmatch.selection.weighting import confidence_disagreement, label_disagreement, mean_one, uniform

__all__ = [
    "LABELLING",
    "AdaptiveThreshold",
    "Alignment",
    "Delta",
    "DeltaRule",
    "FixedThreshold",
    "align",
    "class_thresholds",
    "confidence_disagreement",
    "confident",
    "cross",
    "exchanged",
    "exchanged_where_labels_differ",
    "keep_share",
    "label_disagreement",
    "mean_one",
    "others",
    "own",
    "sharpen",
    "smallest",
    "uniform",
]
