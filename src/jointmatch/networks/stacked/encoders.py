"""The encoders of N networks, stacked: the same operations as for separate encoders."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from jointmatch.networks.classified import classified, head_seeds
from jointmatch.networks.devices import all_on_device
from jointmatch.networks.encoder import Encoder
from jointmatch.networks.stacked.compiled import CompiledLayer
from jointmatch.networks.stacked.dropout import seed_words
from jointmatch.networks.stacked.fused import why_not_fused
from jointmatch.networks.stacked.layers import StackedLayer
from jointmatch.networks.stacked.packing import pack, packing_of
from jointmatch.networks.stacked.replay import Replay
from jointmatch.networks.stacked.stack import RunLayer, Stacked
from jointmatch.networks.tokens import Tokens
from jointmatch.ragged import few_sizes, filled_up
from jointmatch.types import Mixing, Mixings

POSITIONS, TOKENS = 16, 256  # on a GPU, shapes are filled up to multiples of these, so that few occur
NARROW = 8  # on a CPU, positions are filled up to multiples of this
BLOCK = 64  # wider batches on a GPU: to multiples of this, if attention skips the padding

RECORDED_ON = {"cuda"}
FEW_TOKENS = 16384  # a pass over more is long enough to hide its kernel launches


class StackedEncoders(nn.Module):
    """A stack in place of a list of encoders.

    Its state dict is the list's, name by name, so that weights go from one form to the other unchanged.

    Args:
        stack: The encoders.
        tell: Is told which speed-ups are not possible.
    """

    def __init__(self, stack: Stacked, tell: Callable[[str], None] = lambda text: None) -> None:
        super().__init__()
        self.stack = stack
        self.replay: Replay | None = Replay(tell)  # None: every pass is launched kernel by kernel
        self.run_layer: RunLayer = StackedLayer.__call__  # for passes that are replayed or learnt from
        self.fused = False  # whether our own kernels are used

    @classmethod
    def of(
        cls, encoders: Sequence[Encoder], cutoff: float = 0.0, tell: Callable[[str], None] = lambda text: None
    ) -> StackedEncoders:
        """Stack encoders with the same pooling."""
        reads = [encoder.layers for encoder in encoders]
        modules = [encoder.transformer for encoder in encoders]
        return cls(Stacked.from_modules(modules, reads, encoders[0].pooling, cutoff), tell)

    def like(self, stack: Stacked) -> StackedEncoders:
        """Encoders for another stack that are run like these."""
        others = StackedEncoders(stack)
        others.replay, others.run_layer, others.fused = copy.deepcopy(self.replay), self.run_layer, self.fused
        return others

    def __len__(self) -> int:
        return self.stack.count

    def __getitem__(self, network: int) -> Encoder:
        """One network's encoder, taken out of the stack, with tensors of its own."""
        return Encoder(self.stack.to_module(network), self.stack.reads[network], self.stack.pooling)

    def __iter__(self) -> Iterator[Encoder]:
        return (self[network] for network in range(len(self)))

    def features(
        self,
        tokens: Tokens | Sequence[Tokens],
        seeds: Sequence[int] | None = None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        """Features (N, B, D) from one batch for all networks, or from one each."""
        return self._read(tokens, seeds, mixing, None)

    def logits(
        self,
        heads: nn.Module,
        tokens: Tokens | Sequence[Tokens],
        seeds: Sequence[int] | None = None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        """The heads' logits (N, B, C), computed in the same pass."""
        return self._read(tokens, seeds, mixing, heads)

    def _read(
        self,
        tokens: Tokens | Sequence[Tokens],
        seeds: Sequence[int] | None,
        mixing: Mixing | Mixings | None,
        heads: nn.Module | None,
    ) -> Tensor:
        device = self.stack.embeddings.words.device
        words = [seed_words([*seeds, *head_seeds(seeds)])] if self.training and seeds is not None else []
        drops = bool(words)
        longest = self.stack.embeddings.positions.shape[1]
        fused = self.fused and mixing is None  # mixed texts have some of their padding mixed in
        batches = [tokens] if isinstance(tokens, Tokens) else tokens
        arrays = together(batches, device, mixing is None, longest, BLOCK if fused else POSITIONS)
        inputs = all_on_device([*arrays, *words], device)
        is_function = mixing is None and (drops or not self.training)  # of the inputs alone
        could_be_recorded = is_function and device.type in RECORDED_ON
        is_recorded = could_be_recorded and inputs[0].shape[1] <= FEW_TOKENS
        learns = torch.is_grad_enabled()
        if learns and could_be_recorded and not is_recorded and self.replay is not None:
            self.replay.passed_by(FEW_TOKENS)
        # Such passes come in few shapes; the large ones of evaluation would each be compiled separately.
        run_layer = self.run_layer if is_recorded or learns or self.training else StackedLayer.__call__

        def run(ids: Tensor, *rest: Tensor) -> Tensor:
            fields, own = (rest[:-1], rest[-1]) if drops else (rest, None)
            encoder_words, head_words = (None, None) if own is None else own.chunk(2)
            packing = packing_of(fields).spanned() if fused else packing_of(fields)
            features = self.stack(ids, packing, encoder_words, mixing, run_layer)
            return features if heads is None else classified(features, heads, head_words)

        if not is_recorded or self.replay is None:
            return run(*inputs)
        numbers = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
        modes = self.training, heads is not None and heads.training
        return self.replay(run, inputs, [*self._parameters_held, *_tensors_of(heads)], (*modes, numbers))

    @cached_property
    def _parameters_held(self) -> list[nn.Parameter]:
        """The stack's parameters, collected once: that takes longer than looking where they are."""
        return list(self.stack.parameters())

    def compile_layers(self, tell: Callable[[str], None] = lambda text: None, **options: Any) -> None:
        """Compile a layer for passes that are replayed or learnt from; ``tell`` is told if that fails."""
        self.run_layer = CompiledLayer(tell, **options)

    def fuse(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """Use our own kernels for attention and more; ``tell`` is told if that is not possible."""
        reason = why_not_fused(self.stack.shape, self.stack.embeddings.words.device)
        if reason:
            tell(f"Kernels of our own are not used: {reason.rstrip('.')}.")
        self.fused = reason is None

    def per_network(self) -> list[list[Tensor]]:
        """Each network's share of the parameters, with its share of the gradients: views, to be changed in place."""
        return [
            [_share(parameter, place) for parameter, place in self.stack.own(network) if parameter.requires_grad]
            for network in range(len(self))
        ]

    def stacked_parameters(self) -> list[nn.Parameter]:
        """Those with a leading network axis: all of them."""
        return list(self.parameters())

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """The tensors by network, named as by a list of encoders."""
        destination = {} if destination is None else destination
        for network in range(len(self)):
            own = self.stack.network_state(network)
            destination |= {f"{prefix}{network}.transformer.{name}": tensor for name, tensor in own.items()}
        return destination

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Copy the networks' tensors into the stack, and let torch find them under the stack's own names."""
        missing, unexpected = args[2:4]
        for network in range(len(self)):
            start = f"{prefix}{network}.transformer."
            own = {
                name.removeprefix(start): state_dict.pop(name) for name in list(state_dict) if name.startswith(start)
            }
            known = self.stack.network_state(network).keys()
            missing += [start + name for name in known if name not in own]
            unexpected += [start + name for name in own if name not in known]
            if own.keys() == known:
                self.stack.load_network(network, own)
        state_dict |= {f"{prefix}stack.{name}": tensor for name, tensor in self.stack.state_dict().items()}
        super()._load_from_state_dict(state_dict, prefix, *args)


def together(
    batches: Sequence[Tokens],
    device: torch.device,
    packed: bool = True,
    longest: int | None = None,
    block: int = POSITIONS,
) -> list[np.ndarray]:
    """Combine batches of equally many texts: (n, M) token ids, and the fields of their ``Packing``.

    Beyond ``block`` positions they are filled up to multiples of it, but not beyond ``longest``, the number of
    positions that the networks know.
    """
    needed = max(batch.ids.shape[1] for batch in batches)
    if device.type == "cuda":
        positions, grain = (POSITIONS if needed <= block else block), TOKENS
    else:
        positions, grain = NARROW, few_sizes(max(int(batch.lengths.sum()) for batch in batches))
    filled = filled_up(needed, positions)
    width = filled if longest is None else max(needed, min(filled, longest))
    once = {id(batch): batch for batch in batches}  # networks of one run mostly read the same batch
    ids = np.zeros((len(once), len(batches[0].ids), width), np.int64)
    for own, batch in zip(ids, once.values(), strict=True):
        own[:, : batch.ids.shape[1]] = batch.ids.cpu().numpy()
    fields = pack([batch.lengths for batch in once.values()], width, grain if packed else None)
    laid = ids.reshape(len(ids), -1)
    laid = np.take_along_axis(laid, fields[1], 1) if len(fields) > 1 else laid
    numbers = {each: number for number, each in enumerate(once)}
    places = [numbers[id(batch)] for batch in batches]
    return [array if len(once) == len(batches) else array[places] for array in (laid, *fields)]


def _tensors_of(module: nn.Module | None) -> list[Tensor]:
    return [] if module is None else [*module.parameters(), *module.buffers()]


def _share(parameter: nn.Parameter, place: int) -> Tensor:
    share = parameter.detach()[place]
    if parameter.grad is not None:
        share.grad = parameter.grad[place]
    return share
