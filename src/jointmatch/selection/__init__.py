"""Which pseudo-labels to trust, who teaches whom, and how much each counts."""

from jointmatch.selection.bank import Bank
from jointmatch.selection.labelling import LABELLING, cross, others, own
from jointmatch.selection.partners import MIXING_DEPTHS, drawn_among, labelled_apart, own_share, permuted
from jointmatch.selection.ramps import linear_ramp, sigmoid_ramp
from jointmatch.selection.targets import mean_of_views, sharpen
from jointmatch.selection.thresholds import AdaptiveThreshold, FixedThreshold, class_thresholds, confident
from jointmatch.selection.weighting import confidence_disagreement, label_disagreement, over_selected, uniform

__all__ = [
    "LABELLING",
    "MIXING_DEPTHS",
    "AdaptiveThreshold",
    "Bank",
    "FixedThreshold",
    "class_thresholds",
    "confidence_disagreement",
    "confident",
    "cross",
    "drawn_among",
    "label_disagreement",
    "labelled_apart",
    "linear_ramp",
    "mean_of_views",
    "others",
    "over_selected",
    "own",
    "own_share",
    "permuted",
    "sharpen",
    "sigmoid_ramp",
    "uniform",
]
