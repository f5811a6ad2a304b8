"""Find a backbone, build N differently initialised networks, average their weights."""

from jointmatch.networks.averaging import Averaged, decay_within
from jointmatch.networks.backbones import Backbone, check_backbone, find_backbone, load_tokenizer, load_transformer
from jointmatch.networks.devices import device_name, find_device, free_memory, has_bf16, one_thread
from jointmatch.networks.encoder import Encoder
from jointmatch.networks.features import cached_features, extract, feature_settings, tokens_per_batch
from jointmatch.networks.heads import Head, Heads, HeadShape, dropout_seeds
from jointmatch.networks.joint import join_networks
from jointmatch.networks.networks import Networks
from jointmatch.networks.quick import Engine, quicken
from jointmatch.networks.sharing import Joined
from jointmatch.networks.stacked import StackedEncoders, why_not_compiled, why_not_stacked
from jointmatch.networks.stacked_heads import join_heads
from jointmatch.networks.tokens import Tokenizer, Tokens

__all__ = [
    "Averaged",
    "Backbone",
    "Encoder",
    "Engine",
    "Head",
    "HeadShape",
    "Heads",
    "Joined",
    "Networks",
    "StackedEncoders",
    "Tokenizer",
    "Tokens",
    "cached_features",
    "check_backbone",
    "decay_within",
    "device_name",
    "dropout_seeds",
    "extract",
    "feature_settings",
    "find_backbone",
    "find_device",
    "free_memory",
    "has_bf16",
    "join_heads",
    "join_networks",
    "load_tokenizer",
    "load_transformer",
    "one_thread",
    "quicken",
    "tokens_per_batch",
    "why_not_compiled",
    "why_not_stacked",
]
