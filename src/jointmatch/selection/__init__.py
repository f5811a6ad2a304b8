"""Which pseudo-labels to trust, who teaches whom, and how much each counts."""

from jointmatch.selection.alignment import UniformAlignment, align
from jointmatch.selection.curriculum import CurriculumThreshold, learning_status
from jointmatch.selection.gaussian import GaussianWeight, truncated_gaussian
from jointmatch.selection.labelling import LABELLING, cross, others, own
from jointmatch.selection.margins import RunningMargins, last_places, margin, percentile_cut, pseudo_margins
from jointmatch.selection.rounds import in_turn, random_share, round_phases
from jointmatch.selection.schedules import linear_ramp, signal_level
from jointmatch.selection.self_adaptive import SelfAdaptiveThreshold
from jointmatch.selection.targets import sharpen
from jointmatch.selection.thresholds import AdaptiveThreshold, FixedThreshold, class_thresholds, confident
from jointmatch.selection.virtual import VirtualTexts
from jointmatch.selection.voting import agreement_cuts, vote
from jointmatch.selection.weighting import confidence_disagreement, label_disagreement, uniform

__all__ = [
    "LABELLING",
    "AdaptiveThreshold",
    "CurriculumThreshold",
    "FixedThreshold",
    "GaussianWeight",
    "RunningMargins",
    "SelfAdaptiveThreshold",
    "UniformAlignment",
    "VirtualTexts",
    "agreement_cuts",
    "align",
    "class_thresholds",
    "confidence_disagreement",
    "confident",
    "cross",
    "in_turn",
    "label_disagreement",
    "last_places",
    "learning_status",
    "linear_ramp",
    "margin",
    "others",
    "own",
    "percentile_cut",
    "pseudo_margins",
    "random_share",
    "round_phases",
    "sharpen",
    "signal_level",
    "truncated_gaussian",
    "uniform",
    "vote",
]
