"""Which pseudo-labels to trust, who teaches whom, and how much each counts."""

from jointmatch.selection.labelling import LABELLING, cross, others, own
from jointmatch.selection.margins import margin, percentile_cut, pseudo_margins
from jointmatch.selection.rounds import in_turn, random_share, round_phases
from jointmatch.selection.targets import sharpen
from jointmatch.selection.thresholds import AdaptiveThreshold, FixedThreshold, class_thresholds, confident
from jointmatch.selection.weighting import confidence_disagreement, label_disagreement, uniform

__all__ = [
    "LABELLING",
    "AdaptiveThreshold",
    "FixedThreshold",
    "class_thresholds",
    "confidence_disagreement",
    "confident",
    "cross",
    "in_turn",
    "label_disagreement",
    "margin",
    "others",
    "own",
    "percentile_cut",
    "pseudo_margins",
    "random_share",
    "round_phases",
    "sharpen",
    "uniform",
]
