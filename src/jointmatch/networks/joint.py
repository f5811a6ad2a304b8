"""The networks of several runs as one stack, which shares its memory with theirs."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from jointmatch.networks.networks import Moded, Networks
from jointmatch.networks.sharing import Joined, row_shares
from jointmatch.networks.stacked import Stacked, StackedEncoders
from jointmatch.networks.stacked_heads import StackedHeads, stack_heads
from jointmatch.networks.tokens import Tokens
from jointmatch.types import Mixing, Mixings


class JointNetworks(Moded):
    """From tokens to logits (S * N, B, C), run after run."""

    def __init__(self, encoders: StackedEncoders, heads: StackedHeads) -> None:
        super().__init__()
        self.encoders, self.heads = encoders, heads

    def forward(
        self,
        tokens: Tokens | Sequence[Tokens],
        seeds: Sequence[int] | None = None,
        mixing: Mixing | Mixings | None = None,
    ) -> Tensor:
        """As in ``Networks`` with stacked encoders."""
        return self.encoders.logits(self.heads, tokens, seeds, mixing)


def join_networks(runs: Sequence[Networks]) -> Joined:
    """Join networks with stacked encoders of the same shape into one."""
    each = [own.encoders for own in runs if isinstance(own.encoders, StackedEncoders)]
    stacks = [encoders.stack for encoders in each]
    stack, (heads, head_shares) = Stacked.room_for(stacks), stack_heads([own.heads for own in runs])
    shares = [[*a, *b] for a, b in zip(row_shares(stack, stacks), head_shares, strict=True)]
    return Joined(JointNetworks(each[0].like(stack), heads), shares)
