"""Find a backbone, build N differently initialised networks, average their weights."""

from jointmatch.networks.averaging import Averaged
from jointmatch.networks.backbones import Backbone, check_backbone, find_backbone, load_tokenizer, load_transformer
from jointmatch.networks.devices import find_device
from jointmatch.networks.encoder import Encoder
from jointmatch.networks.features import cached_features, extract, feature_settings
from jointmatch.networks.heads import Head, Heads, HeadShape, dropout_seeds
from jointmatch.networks.networks import Networks
from jointmatch.networks.stacked import StackedEncoders, why_not_compiled, why_not_stacked
from jointmatch.networks.tokens import Tokenizer, Tokens

__all__ = [
    "Averaged",
    "Backbone",
    "Encoder",
    "Head",
    "HeadShape",
    "Heads",
    "Networks",
    "StackedEncoders",
    "Tokenizer",
    "Tokens",
    "cached_features",
    "check_backbone",
    "dropout_seeds",
    "extract",
    "feature_settings",
    "find_backbone",
    "find_device",
    "load_tokenizer",
    "load_transformer",
    "why_not_compiled",
    "why_not_stacked",
]
