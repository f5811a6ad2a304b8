"""Which pseudo-labels to trust, who teaches whom, and how much each counts."""

from jointmatch.selection.agreement import AgreedThreshold, unanimous
from jointmatch.selection.alignment import Alignment, align
from jointmatch.selection.angles import AngleBalance, angles_of
from jointmatch.selection.bank import Bank
from jointmatch.selection.curriculum import CurriculumThreshold, learning_status
from jointmatch.selection.delta import Delta, DeltaRule
from jointmatch.selection.gaussian import GaussianWeight, truncated_gaussian
from jointmatch.selection.labelling import LABELLING, cross, others, own
from jointmatch.selection.margins import RunningMargins, last_places, margin, percentile_cut, pseudo_margins
from jointmatch.selection.partners import MIXING_DEPTHS, drawn_among, labelled_apart, own_share, permuted
from jointmatch.selection.ramps import linear_ramp, sigmoid_ramp, signal_level
from jointmatch.selection.ranking import ViewRanker, easiest, of_view
from jointmatch.selection.rounds import in_turn, random_share, round_phases
from jointmatch.selection.self_adaptive import SelfAdaptiveThreshold
from jointmatch.selection.small_loss import exchanged, exchanged_where_labels_differ, keep_share, smallest
from jointmatch.selection.targets import mean_of_views, sharpen
from jointmatch.selection.thresholds import AdaptiveThreshold, FixedThreshold, class_thresholds, confident
from jointmatch.selection.virtual import VirtualTexts
from jointmatch.selection.voting import agreement_cuts, vote
from jointmatch.selection.weighting import confidence_disagreement, label_disagreement, mean_one, over_selected, uniform

__all__ = [
    "LABELLING",
    "MIXING_DEPTHS",
    "AdaptiveThreshold",
    "AgreedThreshold",
    "Alignment",
    "AngleBalance",
    "Bank",
    "CurriculumThreshold",
    "Delta",
    "DeltaRule",
    "FixedThreshold",
    "GaussianWeight",
    "RunningMargins",
    "SelfAdaptiveThreshold",
    "ViewRanker",
    "VirtualTexts",
    "agreement_cuts",
    "align",
    "angles_of",
    "class_thresholds",
    "confidence_disagreement",
    "confident",
    "cross",
    "drawn_among",
    "easiest",
    "exchanged",
    "exchanged_where_labels_differ",
    "in_turn",
    "keep_share",
    "label_disagreement",
    "labelled_apart",
    "last_places",
    "learning_status",
    "linear_ramp",
    "margin",
    "mean_of_views",
    "mean_one",
    "of_view",
    "others",
    "over_selected",
    "own",
    "own_share",
    "percentile_cut",
    "permuted",
    "pseudo_margins",
    "random_share",
    "round_phases",
    "sharpen",
    "sigmoid_ramp",
    "signal_level",
    "smallest",
    "truncated_gaussian",
    "unanimous",
    "uniform",
    "vote",
]
