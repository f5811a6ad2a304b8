"""Mixing texts inside an encoder (Chen et al. 2020): from some layer on, each text is two texts at once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from jointmatch.errors import InputError
from jointmatch.types import Mixing


def mix(x: Tensor, mixing: Mixing) -> Tensor:
    """Add (1 - share) of the partners to the share of each text itself, for one network: (B, ...) -> (B, ...)."""
    return mixing.share * x + (1 - mixing.share) * x[mixing.partner]


def union(mask: Tensor, partner: Tensor) -> Tensor:
    """What may be attended to in either text: a mask (B, ...) of booleans, or of numbers that are larger there."""
    other = mask[partner]
    return mask | other if mask.dtype == torch.bool else torch.maximum(mask, other)


def layers_of(transformer: nn.Module) -> Sequence[nn.Module]:
    """The encoder's layers in order: its first list of as many modules as the config has hidden layers.

    Raises:
        InputError: If there is none, as in an encoder that goes through one layer many times.
    """
    total = transformer.config.num_hidden_layers  # type: ignore[union-attr]
    for module in transformer.modules():
        if isinstance(module, nn.ModuleList) and len(module) == total:
            return list(module)
    raise InputError(
        f"The algorithm mixes texts between two layers of the encoder, and a {type(transformer).__name__} has no list "
        f"of {total} layers to be found. Use a BERT-like backbone, or mode lite, which mixes features."
    )


@contextmanager
def mixed_after(depth: int, transformer: nn.Module, mixing: Mixing) -> Iterator[None]:
    """While open, the output of the first ``depth`` layers is mixed, and later layers attend to both texts' tokens."""

    def mix_inputs(layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        given = inspect.signature(layer.forward).bind(*args, **kwargs)
        if given.arguments.get("attention_mask") is not None:  # None: there is no padding, so nothing to unite
            given.arguments["attention_mask"] = union(given.arguments["attention_mask"], mixing.partner)
        if layer is later[0]:
            hidden = next(iter(given.arguments))
            given.arguments[hidden] = mix(given.arguments[hidden], mixing)
        return given.args, given.kwargs

    later = layers_of(transformer)[depth:]
    handles = [layer.register_forward_pre_hook(mix_inputs, with_kwargs=True) for layer in later]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
