"""The encoders of N networks, stacked: the same operations as of encoders that stand apart."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jointmatch.networks.encoder import Encoder
from jointmatch.networks.stacked.compiled import CompiledLayer
from jointmatch.networks.stacked.dropout import seed_words
from jointmatch.networks.stacked.layers import StackedLayer
from jointmatch.networks.stacked.packing import Packing, pack, unpacked
from jointmatch.networks.stacked.replay import Replay
from jointmatch.networks.stacked.stack import RunLayer, Stacked
from jointmatch.networks.tokens import Tokens
from jointmatch.types import Mixing, Mixings

POSITIONS, TOKENS = 16, 256  # shapes are filled up to multiples of these on a GPU, so that few of them occur

RECORDED_ON = {"cuda"}
FEW_TOKENS = 16384  # a pass over more is long enough to hide the launching of its kernels


class StackedEncoders(nn.Module):
    """A stack in the place of a list of encoders.

    Its state dict is the list's, name by name, so that weights go from one form to the other as they are.

    Args:
        stack: The encoders.
        tell: Hears of what could not be done to make it faster.
    """

    def __init__(self, stack: Stacked, tell: Callable[[str], None] = lambda text: None) -> None:
        super().__init__()
        self.stack = stack
        self.replay: Replay | None = Replay(tell)  # None: every pass is launched kernel by kernel
        self.run_layer: RunLayer = StackedLayer.__call__  # of passes that are replayed

    @classmethod
    def of(
        cls, encoders: Sequence[Encoder], cutoff: float = 0.0, tell: Callable[[str], None] = lambda text: None
    ) -> StackedEncoders:
        """Stack encoders that are pooled alike."""
        reads = [encoder.layers for encoder in encoders]
        modules = [encoder.transformer for encoder in encoders]
        return cls(Stacked.from_modules(modules, reads, encoders[0].pooling, cutoff), tell)

    def like(self, stack: Stacked) -> StackedEncoders:
        """Others that are run as these are."""
        others = StackedEncoders(stack)
        others.replay, others.run_layer = copy.deepcopy(self.replay), self.run_layer
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
        """(N, B, D) from one batch for all networks, or from one each."""
        batches = [tokens] if isinstance(tokens, Tokens) else tokens
        ids, packing = together(batches, mixing is None)
        words = seed_words(seeds, ids.device) if self.training and seeds is not None else None
        is_short = ids.device.type in RECORDED_ON and ids.shape[1] <= FEW_TOKENS
        is_function = mixing is None and (words is not None or not self.training)  # of the inputs alone
        if is_short and is_function and self.replay is not None:
            return self._replayed(self.replay, ids, packing, words)
        return self.stack(ids, packing, words, mixing)

    def _replayed(self, replay: Replay, ids: Tensor, packing: Packing, words: Tensor | None) -> Tensor:
        """The same from a recording of the pass."""
        packed = [] if packing.real is None or packing.spot is None else [packing.place, packing.real, packing.spot]
        inputs = [ids, packing.mask, *packed, *([] if words is None else [words])]

        def run(ids: Tensor, mask: Tensor, *rest: Tensor) -> Tensor:
            packing = Packing(mask, *rest[:3]) if packed else unpacked(mask)
            return self.stack(ids, packing, None if words is None else rest[-1], run_layer=self.run_layer)

        numbers = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
        return replay(run, inputs, self.stack.parameters, (self.training, bool(packed), numbers))

    def compile_layers(self, tell: Callable[[str], None] = lambda text: None, **options: Any) -> None:
        """Compile a layer for the passes that are replayed; ``tell`` hears where that fails."""
        self.run_layer = CompiledLayer(tell, **options)

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
        """The tensors by network, as a list of encoders names them."""
        destination = {} if destination is None else destination
        for network in range(len(self)):
            own = self.stack.network_state(network)
            destination |= {f"{prefix}{network}.transformer.{name}": tensor for name, tensor in own.items()}
        return destination

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Put the networks' tensors into the stack, and leave torch the stack's own names to find."""
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


def together(batches: Sequence[Tokens], packed: bool = True) -> tuple[Tensor, Packing]:
    """Batches of as many texts each as one: (n, M) token numbers, and where they stand."""
    device = batches[0].ids.device
    positions, tokens = (POSITIONS, TOKENS) if device.type == "cuda" else (1, 1)
    width = -(-max(batch.ids.shape[1] for batch in batches) // positions) * positions
    ids = torch.stack([F.pad(batch.ids, (0, width - batch.ids.shape[1])) for batch in batches]).flatten(1)
    lengths = [batch.lengths for batch in batches]
    packing = pack(lengths, width, device, tokens if packed else None)
    return (ids if packing.spot is None else ids.gather(1, packing.place)), packing


def _share(parameter: nn.Parameter, place: int) -> Tensor:
    share = parameter.detach()[place]
    if parameter.grad is not None:
        share.grad = parameter.grad[place]
    return share
