"""The training loop, training modes, optimiser, evaluation and checkpoints."""

from jointmatch.listener import Listener
from jointmatch.training.baselines import Logistic, Spreading
from jointmatch.training.full import FullLearner, autocast_dtype
from jointmatch.training.learner import Learner
from jointmatch.training.lite import FeatureSet, LiteLearner, build_heads, extract_features
from jointmatch.training.loop import Checkpointing, Loop, Trained
from jointmatch.training.making import ViewMaker, ready_views
from jointmatch.training.together import side_by_side
from jointmatch.training.updates import Updater
from jointmatch.training.views import Views

__all__ = [
    "Checkpointing",
    "FeatureSet",
    "FullLearner",
    "Learner",
    "Listener",
    "LiteLearner",
    "Logistic",
    "Loop",
    "Spreading",
    "Trained",
    "Updater",
    "ViewMaker",
    "Views",
    "autocast_dtype",
    "build_heads",
    "extract_features",
    "ready_views",
    "side_by_side",
]
