"""The parts of n BERT encoders, each part's weights with a leading network axis: (n, ...)."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jointmatch.networks.stacked.dropout import Dropout


class StackedLinear(nn.Module):
    """n linear layers as one batched product."""

    def __init__(self, count: int, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, outputs, inputs))
        self.bias = nn.Parameter(torch.empty(count, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """(n, B, T, inputs) -> (n, B, T, outputs)."""
        flat = torch.baddbmm(self.bias[:, None], x.flatten(1, 2), self.weight.mT)
        return flat.view(*x.shape[:-1], -1)


class StackedNorm(nn.Module):
    """n layer norms."""

    def __init__(self, count: int, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, width))
        self.bias = nn.Parameter(torch.empty(count, width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """(n or 1, B, T, D) -> (n, B, T, D)."""
        normal = F.layer_norm(x, x.shape[-1:], eps=self.epsilon)
        return normal * self.weight[:, None, None] + self.bias[:, None, None]


class StackedEmbeddings(nn.Module):
    """Words, positions and the first segment's vector, added and normalised.

    Args:
        shape: A BERT's configuration.
        count: n.
        shared: The word vectors are the same for all networks and frozen, so they are held once.
    """

    def __init__(self, shape: Any, count: int, shared: bool) -> None:
        super().__init__()
        width = shape.hidden_size
        self.words = nn.Parameter(torch.empty(1 if shared else count, shape.vocab_size, width))
        self.positions = nn.Parameter(torch.empty(count, shape.max_position_embeddings, width))
        self.segments = nn.Parameter(torch.empty(count, shape.type_vocab_size, width))
        self.norm = StackedNorm(count, width, shape.layer_norm_eps)
        self.count, self.shared = count, shared
        self.padding: int | None = shape.pad_token_id

    def forward(self, ids: Tensor, dropout: Dropout) -> Tensor:
        """(n or 1, B, T) -> (n, B, T, D)."""
        words = self._look_up(ids)
        if dropout.words is not None:
            words = words.expand(self.count, -1, -1, -1).masked_fill(dropout.words.hit(0)[:, :, None], 0)
        own = self.segments[:, None, :1] + self.positions[:, None, : ids.shape[-1]]
        hidden = self.norm(words + own)
        return hidden if dropout.hidden is None else dropout.hidden.drop(hidden, 0)

    def _look_up(self, ids: Tensor) -> Tensor:
        """One look-up in the tables laid end to end: a table's own slice would cost a copy in the backward pass."""
        tables, vocabulary, width = self.words.shape
        offsets = torch.arange(tables, device=ids.device)[:, None, None] * vocabulary
        vectors = F.embedding(ids + offsets, self.words.view(-1, width))
        if self.padding is None or not self.words.requires_grad:
            return vectors
        # As in ``nn.Embedding``: the padding's vector is read and never learnt.
        return torch.where((ids == self.padding)[..., None], vectors.detach(), vectors)


class StackedLayer(nn.Module):
    """Self-attention and the two linear layers after it, of n networks."""

    def __init__(self, shape: Any, count: int, number: int) -> None:
        super().__init__()
        width, inner = shape.hidden_size, shape.intermediate_size
        self.qkv = StackedLinear(count, width, 3 * width)
        self.mixed = StackedLinear(count, width, width)
        self.mixed_norm = StackedNorm(count, width, shape.layer_norm_eps)
        self.up = StackedLinear(count, width, inner)
        self.down = StackedLinear(count, inner, width)
        self.norm = StackedNorm(count, width, shape.layer_norm_eps)
        self.heads, self.number = shape.num_attention_heads, number

    def forward(self, hidden: Tensor, mask: Tensor, dropout: Dropout) -> Tensor:
        """(n, B, T, D) and (n, B, T) -> (n, B, T, D)."""
        looked = self.mixed(self._attend(hidden, mask, dropout))
        hidden = self.mixed_norm(self._drop(looked, dropout, 1) + hidden)
        inner = self.down(F.gelu(self.up(hidden)))
        return self.norm(self._drop(inner, dropout, 2) + hidden)

    def _drop(self, x: Tensor, dropout: Dropout, half: int) -> Tensor:
        return x if dropout.hidden is None else dropout.hidden.drop(x, 2 * self.number + half)

    def _attend(self, hidden: Tensor, mask: Tensor, dropout: Dropout) -> Tensor:
        """(n, B, T, D) -> (n, B, T, D), over the tokens of each text."""
        n, texts, tokens, _ = hidden.shape
        split = self.qkv(hidden).view(n * texts, tokens, 3, self.heads, -1)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind()  # (n * B, H, T, D / H) each
        seen = mask.reshape(n * texts, 1, 1, tokens)
        if dropout.shares is None:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        else:
            # The fused kernels drop by a stream of the whole batch's, so here the shares are written out.
            scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~seen, torch.finfo(q.dtype).min)
            shares = scores.softmax(-1).view(n, texts, self.heads, tokens, tokens)
            out = dropout.shares.drop(shares, self.number).flatten(0, 1).to(v.dtype) @ v
        return out.transpose(1, 2).reshape(hidden.shape)
