"""N encoders of one shape held as one set of tensors, the network axis first."""

from jointmatch.networks.stacked.compiled import why_not_compiled
from jointmatch.networks.stacked.encoders import StackedEncoders
from jointmatch.networks.stacked.stack import Stacked
from jointmatch.networks.stacked.weights import why_not_stacked

__all__ = ["Stacked", "StackedEncoders", "why_not_compiled", "why_not_stacked"]
