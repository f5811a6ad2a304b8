"""N BERT encoders that run as one: from tokens to each network's features."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from jointmatch.errors import InputError
from jointmatch.networks.encoder import Pooling, depth_of, pool
from jointmatch.networks.mixing import mix, union
from jointmatch.networks.stacked.dropout import Dropout, LayerDropout, drop_in_pass, pick
from jointmatch.networks.stacked.layers import StackedEmbeddings, StackedLayer
from jointmatch.networks.stacked.packing import Packing
from jointmatch.networks.stacked.weights import embedding_sources, layer_sources, why_not_stacked
from jointmatch.randomness import seeded
from jointmatch.types import Mixing, Mixings

RunLayer = Callable[[Any, Tensor, Packing, LayerDropout], Tensor]


class Stacked(nn.Module):
    """N encoders of one shape; every parameter has a leading axis, one entry per network that reads it.

    A layer holds the networks that read it or a later one. What no network reads (later layers, BERT's own pooler)
    is kept aside on the CPU, unchanged, as when encoders are trained separately: it gets no gradient.

    Args:
        shape: The BERTs' configuration.
        reads: The layers each network reads, as shares of the depth.
        pooling: How token vectors become one.
        shared_words: Whether the word vectors are frozen and the same in all networks: they are then held once.
        cutoff: Share of a text's word dimensions that is hidden while training.
    """

    def __init__(
        self,
        shape: Any,
        reads: Sequence[Sequence[float]],
        pooling: Pooling,
        shared_words: bool = False,
        cutoff: float = 0.0,
    ) -> None:
        super().__init__()
        self.shape, self.pooling, self.cutoff = shape, pooling, cutoff
        self.reads = [tuple(layers) for layers in reads]
        self.depths = [[depth_of(share, shape.num_hidden_layers) for share in layers] for layers in reads]
        deepest = [max(own) for own in self.depths]
        self.readers = [[i for i, end in enumerate(deepest) if end > layer] for layer in range(max(deepest))]
        self.embeddings = StackedEmbeddings(shape, len(reads), shared_words)
        self.layers = nn.ModuleList(StackedLayer(shape, len(own)) for own in self.readers)
        self.unread: list[dict[str, Tensor]] = [{} for _ in reads]

    @property
    def count(self) -> int:
        """N."""
        return len(self.reads)

    def forward(
        self,
        ids: Tensor,
        packing: Packing,
        seeds: Tensor | None = None,
        mixing: Mixing | Mixings | None = None,
        run_layer: RunLayer = StackedLayer.__call__,
    ) -> Tensor:
        """Features (N, B, D); more generally one row per layer read, network by network.

        Args:
            ids: (N, M) token ids, or (1, M) for all networks.
            packing: Where these tokens stand; with ``mixing`` they include the padding.
            seeds: (N, 2) of ``seed_words``, for dropout; None draws them from torch's own stream while training.
            mixing: How the texts are mixed with each other on the way.
            run_layer: Runs a layer; may be a compiled form of it.
        """
        dropout = self._dropout(packing, seeds)
        hidden = self.embeddings(ids, packing, dropout)
        packing = packing.expand(self.count)
        networks = list(range(self.count))
        read: dict[tuple[int, int], Tensor] = {}
        for depth, (layer, readers) in enumerate(zip(self.layers, self.readers, strict=True), 1):
            if readers != networks:
                kept = [networks.index(i) for i in readers]
                hidden, packing, dropout, networks = pick(hidden, kept), packing.of(kept), dropout.of(kept), readers
            hidden = run_layer(layer, hidden, packing, dropout.layer(depth - 1))
            if mixing is not None:
                hidden, packing = self._mixed(hidden, packing, mixing, networks, depth)
            if any(depth in self.depths[i] for i in networks):
                pooled = self._pool(hidden, packing)
                read |= {(network, depth): pooled[place] for place, network in enumerate(networks)}
        return torch.stack([read[i, depth] for i, own in enumerate(self.depths) for depth in own])

    def _pool(self, hidden: Tensor, packing: Packing) -> Tensor:
        """(n, M, D) -> (n, B, D)."""
        laid = packing.lay_out(hidden)
        return pool(laid.flatten(0, 1), packing.mask.flatten(0, 1), self.pooling).view(*laid.shape[:2], -1)

    def _dropout(self, packing: Packing, seeds: Tensor | None) -> Dropout:
        if not self.training:
            return Dropout()
        if seeds is None:
            device = packing.mask.device
            seeds = torch.randint(-(2**31), 2**31, (self.count, 2), device=device).to(torch.int32)
        return drop_in_pass(seeds, self.shape, packing, self.cutoff)

    def _mixed(
        self, hidden: Tensor, packing: Packing, mixing: Mixing | Mixings, networks: Sequence[int], depth: int
    ) -> tuple[Tensor, Packing]:
        """Mix the texts of those networks that mix at this layer."""
        own = [mixing.of(i) for i in networks]
        at = [depth_of(m.depth, min(self.depths[i])) == depth for i, m in zip(networks, own, strict=True)]
        if not any(at):
            return hidden, packing
        laid, mask = packing.lay_out(hidden), packing.mask
        laid = torch.stack([mix(x, m) if now else x for x, m, now in zip(laid, own, at, strict=True)])
        mask = torch.stack([union(x, m.partner) if now else x for x, m, now in zip(mask, own, at, strict=True)])
        return packing.gather(laid), replace(packing, mask=mask)

    @classmethod
    def from_modules(
        cls,
        modules: Sequence[nn.Module],
        reads: Sequence[Sequence[float]] | None = None,
        pooling: Pooling = "mean",
        cutoff: float = 0.0,
    ) -> Stacked:
        """Stack BERTs, with the very same weights, trained or frozen as theirs are.

        Raises:
            InputError: If they cannot be stacked.
        """
        reason = why_not_stacked(modules)
        if reason:
            raise InputError(f"The encoders cannot be stacked: {reason}.")
        tables = [module.get_input_embeddings().weight for module in modules]  # type: ignore[operator]
        shared = not tables[0].requires_grad and all(torch.equal(tables[0], table) for table in tables)
        first: Any = modules[0]
        stack = cls(first.config, reads or [[1.0]] * len(modules), pooling, shared, cutoff).to(tables[0])
        for network, module in enumerate(modules):
            stack.load_network(network, module.state_dict())
        trained = {name: parameter.requires_grad for name, parameter in first.named_parameters()}
        for name, _, theirs in stack._sources():
            stack.get_parameter(name).requires_grad_(all(trained[their] for their in theirs))
        return stack.train(first.training)

    @classmethod
    def room_for(cls, stacks: Sequence[Stacked]) -> Stacked:
        """A stack that the networks of several stacks fit into, one after another; its weights are yet to be set."""
        first = stacks[0]
        words, parts = first.embeddings.words, [stack.embeddings for stack in stacks]
        # The stacks know whether words are frozen; parameters of an average never require gradients.
        shared = all(part.shared and torch.equal(part.words, words) for part in parts)
        reads = [own for stack in stacks for own in stack.reads]
        stack = cls(first.shape, reads, first.pooling, shared, first.cutoff).to(words)
        for name, parameter in stack.named_parameters():
            parameter.requires_grad_(first.get_parameter(name).requires_grad)
        return stack.train(first.training)

    def to_modules(self) -> list[nn.Module]:
        """The N encoders as ``transformers`` modules, with tensors of their own."""
        return [self.to_module(network) for network in range(self.count)]

    def to_module(self, network: int) -> nn.Module:
        """One of these encoders."""
        from transformers import BertModel

        state = self.network_state(network)
        with seeded(0):  # random weights are drawn, then replaced: use a separate stream
            module: nn.Module = BertModel(copy.deepcopy(self.shape), add_pooling_layer="pooler.dense.weight" in state)
        module.load_state_dict(state)
        return module.to(self.embeddings.words.device).train(self.training)

    def _sources(self) -> Iterator[tuple[str, list[int], tuple[str, ...]]]:
        """Each parameter's name, the networks along its first axis, and the names it has in a BERT."""
        everyone = list(range(self.count))
        for name, theirs in embedding_sources().items():
            yield name, everyone, theirs
        for number, readers in enumerate(self.readers):
            for name, theirs in layer_sources(number).items():
                yield name, readers, theirs

    def own(self, network: int) -> Iterator[tuple[nn.Parameter, int]]:
        """The parameters that hold one network, each with the network's index on the first axis."""
        for name, networks, _ in self._sources():
            parameter = self.get_parameter(name)
            if network in networks:
                yield parameter, 0 if len(parameter) == 1 else networks.index(network)

    def network_state(self, network: int) -> dict[str, Tensor]:
        """One network's tensors under the names a BERT has for them; they are views of the stack's."""
        state: dict[str, Tensor] = {}
        for name, networks, theirs in self._sources():
            if network in networks:
                parameter = self.get_parameter(name).detach()
                place = 0 if len(parameter) == 1 else networks.index(network)
                state |= dict(zip(theirs, parameter[place].chunk(len(theirs)), strict=True))
        return state | self.unread[network]

    @torch.no_grad()
    def load_network(self, network: int, state: Mapping[str, Tensor]) -> None:
        """Copy in one network's tensors, named as in a BERT."""
        rest = dict(state)
        for name, tensor in self.network_state(network).items():
            if name not in self.unread[network]:
                tensor.copy_(rest.pop(name))
        self.unread[network] = {name: value.detach().cpu().clone() for name, value in rest.items()}
