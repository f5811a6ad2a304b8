"""The heads of many networks as one batched product for each kind of head."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jointmatch.networks.heads import Cosine, Head, Heads, HeadShape
from jointmatch.networks.mixing import mix
from jointmatch.networks.noise import Noise, drawn_noise, hashed_noise
from jointmatch.networks.sharing import Joined, Share
from jointmatch.types import Mixing, Mixings


class StackedHeads(nn.Module):
    """Heads that share one shape except for their kind; the results are those of the separate heads."""

    def __init__(self, heads: Sequence[Head], shape: HeadShape) -> None:
        super().__init__()
        self.shape, self.deep = shape, [len(head.hidden) > 0 for head in heads]
        kinds: dict[tuple[type, int], list[int]] = {}
        for place, head in enumerate(heads):
            kinds.setdefault((type(head.classify), len(head.hidden)), []).append(place)
        self.places = list(kinds.values())
        self.groups = nn.ModuleList(_Group([heads[i] for i in own], shape) for own in self.places)

    def forward(
        self,
        features: Tensor | Sequence[Tensor],
        seeds: Sequence[int] | Tensor | None = None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        """As in ``Heads``; where a network has fewer texts than others, it is padded and its extra logits come last."""
        rows = [len(x) for x in features]
        if not isinstance(features, Tensor):
            features = torch.stack([_padded(x, max(rows), x) for x in features])
        noise = Noise()
        if self.training and seeds is not None and any((self.shape.dropout, self.shape.cutoff)):
            if isinstance(seeds, Tensor):
                noise = hashed_noise(self.shape.rates, features.shape[1:], seeds)
            else:
                noise = self._drawn(features, rows, seeds)
        parts = [
            group(_pick(features, own), _pick(noise.features, own), _pick(noise.hidden, own), _own(mixing, own))
            for group, own in zip(self.groups, self.places, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        order = {place: (g, i) for g, own in enumerate(self.places) for i, place in enumerate(own)}
        return torch.stack([parts[g][i] for g, i in (order[place] for place in range(len(self.deep)))])

    def _drawn(self, features: Tensor, rows: Sequence[int], seeds: Sequence[int]) -> Noise:
        """Noise as each head would draw it by itself, for its own number of texts."""
        most, width = features.shape[1:]
        each = [
            drawn_noise(self.shape.rates, (count, width), seed, features.device, deep)
            for count, seed, deep in zip(rows, seeds, self.deep, strict=True)
        ]
        given = [_padded(noise.features, most, features) for noise in each]
        inner = [_padded(noise.hidden, most, features) for noise in each] if any(self.deep) else None
        return Noise(torch.stack(given), None if inner is None else torch.stack(inner))

    def _pairs(self) -> list[tuple[_Group, list[int]]]:
        return [(g, own) for g, own in zip(self.groups, self.places, strict=True) if isinstance(g, _Group)]

    def shares(self, heads: Sequence[Head]) -> list[list[Share]]:
        """The heads' own tensors as rows of the stack's, head by head."""
        found: list[list[Share]] = [[] for _ in heads]
        for group, own in self._pairs():
            for row, place in enumerate(own):
                tensors = {**dict(heads[place].named_parameters()), **dict(heads[place].named_buffers())}
                found[place] = [Share(tensor, group.held(name), row) for name, tensor in tensors.items()]
        return found


class _Group(nn.Module):
    """Heads of one kind, with each of their tensors stacked under its name."""

    center: Tensor

    def __init__(self, heads: Sequence[Head], shape: HeadShape) -> None:
        super().__init__()
        self.scale = shape.scale
        self.cosine = heads[0].classify.scale if isinstance(heads[0].classify, Cosine) else None
        self.hidden = len(heads[0].hidden) > 0
        for name, tensor in heads[0].named_parameters():
            stacked = torch.stack([head.get_parameter(name).detach() for head in heads])
            self.register_parameter(_plain(name), nn.Parameter(stacked, tensor.requires_grad))
        self.register_buffer("center", torch.stack([head.center for head in heads]))

    def held(self, name: str) -> Tensor:
        """The stacked tensor for a tensor name of a head."""
        found: Tensor = getattr(self, _plain(name))
        return found

    def forward(
        self, features: Tensor, given: Tensor | None, inner: Tensor | None, mixing: Sequence[Mixing] | None
    ) -> Tensor:
        """(n, B, D) -> (n, B, C)."""
        x = features
        if self.scale is not None:
            x = self.scale * F.normalize(x.float() - self.center[:, None], dim=-1)
        if mixing is not None:
            x = torch.stack([mix(own, how) for own, how in zip(x, mixing, strict=True)])
        if given is not None:
            x = x * given
        if self.hidden:
            x = F.gelu(torch.baddbmm(self.held("hidden.0.bias")[:, None], x, self.held("hidden.0.weight").mT))
            x = x if inner is None else x * inner
        weight = self.held("classify.weight")
        if self.cosine is not None:
            return self.cosine * torch.bmm(F.normalize(x, dim=-1), F.normalize(weight, dim=-1).mT)
        return torch.baddbmm(self.held("classify.bias")[:, None], x, weight.mT)


def stack_heads(runs: Sequence[Heads]) -> tuple[StackedHeads, list[list[Share]]]:
    """Stack the heads of several runs, run after run; also return each run's shares."""
    heads = [head for own in runs for head in own.each()]
    stack = StackedHeads(heads, runs[0].shape)
    shares = iter(stack.shares(heads))
    return stack, [[share for _ in own for share in next(shares)] for own in runs]


def join_heads(runs: Sequence[Heads]) -> Joined:
    """Join the heads of several runs into one module."""
    return Joined(*stack_heads(runs))


def _plain(name: str) -> str:
    return name.replace(".", "_")


def _pick(x: Tensor | None, places: list[int]) -> Tensor | None:
    return x if x is None or len(places) == len(x) else torch.stack([x[i] for i in places])


def _own(mixing: Mixing | Mixings | None, places: list[int]) -> list[Mixing] | None:
    return None if mixing is None else [mixing.of(i) for i in places]


def _padded(x: Tensor | None, rows: int, like: Tensor) -> Tensor:
    """Pad with ones for missing texts; all ones for a missing layer."""
    if x is None:
        return torch.ones(rows, like.shape[-1], device=like.device)
    return x if len(x) == rows else F.pad(x, (0, 0, 0, rows - len(x)), value=1.0)
