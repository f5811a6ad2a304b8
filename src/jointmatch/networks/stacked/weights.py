"""Which tensor of a ``transformers`` BERT lies where in a stack, and whether BERTs can be stacked at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

Sources = dict[str, tuple[str, ...]]
"""Name in the stack -> the names in a BERT that lie there end to end."""

_EMBEDDINGS: Sources = {
    "words": ("word_embeddings.weight",),
    "positions": ("position_embeddings.weight",),
    "segments": ("token_type_embeddings.weight",),
    "norm.weight": ("LayerNorm.weight",),
    "norm.bias": ("LayerNorm.bias",),
}
_LAYER = {
    "qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "mixed": ("attention.output.dense",),
    "mixed_norm": ("attention.output.LayerNorm",),
    "up": ("intermediate.dense",),
    "down": ("output.dense",),
    "norm": ("output.LayerNorm",),
}


def embedding_sources() -> Sources:
    """The sources of the embeddings."""
    return {f"embeddings.{ours}": tuple(f"embeddings.{t}" for t in theirs) for ours, theirs in _EMBEDDINGS.items()}


def layer_sources(number: int) -> Sources:
    """The sources of one layer, counted from 0."""
    return {
        f"layers.{number}.{ours}.{kind}": tuple(f"encoder.layer.{number}.{t}.{kind}" for t in theirs)
        for ours, theirs in _LAYER.items()
        for kind in ("weight", "bias")
    }


def why_not_stacked(modules: Sequence[nn.Module]) -> str | None:
    """Why encoders cannot be stacked, in words; None if they can."""
    from transformers import BertModel

    for module in modules:
        if type(module) is not BertModel:
            return f"a {type(module).__name__} cannot be stacked, only a BertModel"
        reason = unusual(module.config)
        if reason:
            return reason
        names = {name.partition(".")[0] for name in module.state_dict()}
        if not names <= {"embeddings", "encoder", "pooler"}:
            return f"it has parts that no BERT has: {', '.join(sorted(names))}"
    if len({_facts(module) for module in modules}) > 1:
        return "the encoders differ in shape"
    return None


def unusual(shape: Any) -> str | None:
    """What a configuration asks for that the stack does not support; None if nothing."""
    if shape.hidden_act != "gelu":
        return f"its activation is {shape.hidden_act!r}, wanted 'gelu'"
    if (getattr(shape, "position_embedding_type", None) or "absolute") != "absolute":
        return f"its positions are {shape.position_embedding_type!r}, wanted 'absolute'"
    if shape.is_decoder or shape.add_cross_attention:
        return "it is a decoder"
    return None


def _facts(module: nn.Module) -> tuple[Any, ...]:
    """What must be the same: everything the forward pass depends on besides the weights."""
    shape: Any = module.config
    tensors = tuple((name, p.shape, p.dtype, p.requires_grad) for name, p in module.named_parameters())
    rates = (shape.hidden_dropout_prob, shape.attention_probs_dropout_prob)
    return tensors, shape.num_attention_heads, shape.layer_norm_eps, shape.pad_token_id, rates
