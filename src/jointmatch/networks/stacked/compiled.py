"""One compiled layer for all layers of a stack: they differ only in their weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from jointmatch.networks.stacked.dropout import LayerDropout
from jointmatch.networks.stacked.layers import StackedLayer
from jointmatch.networks.stacked.packing import Packing
from jointmatch.networks.stacked.replay import first_line


def why_not_compiled(device: torch.device) -> str | None:
    """Why layers cannot be compiled, in words; None if they can."""
    from torch.utils._triton import has_triton

    if device.type != "cuda":
        return f"it pays on a GPU only, and this is {device.type}"
    return None if has_triton() else "torch finds no Triton, which its compiler needs"


_COMPILED: dict[str, Any] = {}  # by options: later runs in the same process reuse what one run compiled


class CompiledLayer:
    """Runs a layer's compiled form, or the layer itself where compiling fails.

    Args:
        tell: Is told why compiling failed.
        options: Passed to ``torch.compile``.
    """

    def __init__(self, tell: Callable[[str], None], **options: Any) -> None:
        # Few shapes occur, but each is compiled separately with and without gradients, dropout and padding.
        torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 64)
        warnings.filterwarnings("ignore", r"\s*Online softmax is disabled")  # of use only to compiler developers
        key = repr(options)
        if key not in _COMPILED:
            _COMPILED[key] = torch.compile(StackedLayer.forward, fullgraph=True, **options)
        self.run = _COMPILED[key]
        self.tell = tell
        self.failed = False

    def __call__(self, layer: StackedLayer, hidden: Tensor, packing: Packing, dropout: LayerDropout) -> Tensor:
        if not self.failed:
            _expect_other_counts(hidden, packing, dropout)
            try:
                with _backward_at_once():
                    return self.run(layer, hidden, packing, dropout)
            except torch.OutOfMemoryError:
                raise
            except Exception as error:  # compiler errors have no common type
                self.failed = True
                self.tell(f"Layers are not compiled ({first_line(error)}): slower, with the same results.")
        return layer(hidden, packing, dropout)

    def __deepcopy__(self, memo: Any) -> CompiledLayer:
        return self  # it holds no network's state


def _backward_at_once() -> AbstractContextManager[Any]:
    """Compile the backward pass with the forward pass: later, one could not fall back to the layer itself."""
    from torch._functorch import config

    known = hasattr(config, "force_non_lazy_backward_lowering")  # newer than the oldest supported torch
    return config.patch(force_non_lazy_backward_lowering=True) if known else nullcontext()


def _expect_other_counts(hidden: Tensor, packing: Packing, dropout: LayerDropout) -> None:
    """Tell the compiler that packed texts vary in their number of tokens, so that it compiles once."""
    if packing.spot is not None:
        masks = [mask.rows for mask in (dropout.mixed, dropout.inner) if mask is not None]
        for x in (hidden, packing.place, packing.real, *masks):
            torch._dynamo.maybe_mark_dynamic(x, 1)
