"""The encoders of N networks, stacked: the same operations as of encoders that stand apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jointmatch.networks.encoder import Encoder
from jointmatch.networks.stacked.dropout import seed_words
from jointmatch.networks.stacked.stack import Stacked
from jointmatch.networks.tokens import Tokens
from jointmatch.types import Mixing, Mixings


class StackedEncoders(nn.Module):
    """A stack in the place of a list of encoders.

    Its state dict is the list's, name by name, so that weights go from one form to the other as they are.
    """

    def __init__(self, stack: Stacked) -> None:
        super().__init__()
        self.stack = stack

    @classmethod
    def of(cls, encoders: Sequence[Encoder], cutoff: float = 0.0) -> StackedEncoders:
        """Stack encoders that are pooled alike."""
        reads = [encoder.layers for encoder in encoders]
        modules = [encoder.transformer for encoder in encoders]
        return cls(Stacked.from_modules(modules, reads, encoders[0].pooling, cutoff))

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
        batch = together([tokens] if isinstance(tokens, Tokens) else tokens)
        words = seed_words(seeds, batch.ids.device) if self.training and seeds is not None else None
        return self.stack(batch.ids, batch.mask, words, mixing)

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


def together(batches: Sequence[Tokens]) -> Tokens:
    """Batches of as many texts each, padded alike and stacked: (N, B, T)."""
    longest = max(batch.ids.shape[1] for batch in batches)
    room = [(0, longest - batch.ids.shape[1]) for batch in batches]
    ids = torch.stack([F.pad(batch.ids, space) for batch, space in zip(batches, room, strict=True)])
    mask = torch.stack([F.pad(batch.mask, space) for batch, space in zip(batches, room, strict=True)])
    return Tokens(ids, mask)


def _share(parameter: nn.Parameter, place: int) -> Tensor:
    share = parameter.detach()[place]
    if parameter.grad is not None:
        share.grad = parameter.grad[place]
    return share
