"""The parts of n BERT encoders, each part's weights with a leading network axis: (n, ...)."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jointmatch.networks.stacked.dropout import Dropout, LayerDropout, Mask
from jointmatch.networks.stacked.packing import Packing


class StackedLinear(nn.Module):
    """n linear layers as one batched product."""

    def __init__(self, count: int, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, outputs, inputs))
        self.bias = nn.Parameter(torch.empty(count, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """(n, M, inputs) -> (n, M, outputs)."""
        product = self.product(x)
        return product + self.bias[:, None].to(product.dtype)

    def product(self, x: Tensor) -> Tensor:
        """The same before the bias is added."""
        dtype = _dtype_of(x)
        product: Tensor = _Product.apply(x.to(dtype), self.weight.to(dtype))
        return product


class _Product(torch.autograd.Function):
    """x (n, M, I) times the transpose of weight (n, O, I), whose gradient is laid out as the weight is.

    Autograd's own gradient would be a transposed view, which the optimiser cannot take: copied at every step.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return x @ weight.mT

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        return grad @ weight, grad.mT @ x


class _Activated(torch.autograd.Function):
    """``gelu(x + bias)`` of (n, M, D) and (n, D), with a backward pass by our own kernel; see ``kernels``."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, bias)
        return F.gelu(x + bias[:, None].to(x.dtype))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        found: tuple[Tensor, Tensor] = torch.ops.jointmatch.activation_backward(grad, *ctx.saved_tensors)
        return found


def _dtype_of(x: Tensor) -> torch.dtype:
    """The dtype autocast would compute a product in."""
    kind = x.device.type
    casts = kind != "meta" and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if casts else x.dtype


class StackedNorm(nn.Module):
    """n layer norms."""

    def __init__(self, count: int, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, width))
        self.bias = nn.Parameter(torch.empty(count, width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """(n or 1, M, D) -> (n, M, D)."""
        normal = F.layer_norm(x, x.shape[-1:], eps=self.epsilon)
        return normal * self.weight[:, None] + self.bias[:, None]


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

    def forward(self, ids: Tensor, packing: Packing, dropout: Dropout) -> Tensor:
        """(n or 1, M) -> (n, M, D)."""
        words = self._look_up(ids)
        if dropout.words is not None:
            words = words.expand(self.count, -1, -1).masked_fill(dropout.words.at(0).hit(), 0)
        hidden = self.norm(words + self.segments[:, :1] + self._positions(packing))
        return hidden if dropout.hidden is None else dropout.hidden.at(0).drop(hidden)

    def _positions(self, packing: Packing) -> Tensor:
        """(n, M, D); for padded texts without a look-up, which makes the backward pass cheaper."""
        _, texts, tokens = packing.mask.shape
        if packing.spot is None:
            return self.positions[:, :tokens].repeat(1, texts, 1)
        size = self.positions.shape[1]
        first = torch.arange(self.count, device=packing.place.device)[:, None] * size
        return F.embedding(packing.position + first, self.positions.flatten(0, 1))

    def _look_up(self, ids: Tensor) -> Tensor:
        """One look-up in the tables laid end to end: a table's own slice would cost a copy in the backward pass."""
        tables, vocabulary, width = self.words.shape
        offsets = torch.arange(tables, device=ids.device)[:, None] * vocabulary
        vectors = F.embedding(ids + offsets, self.words.view(-1, width))
        if self.padding is None or not self.words.requires_grad:
            return vectors
        # As in ``nn.Embedding``: the padding's vector is read but never trained.
        return torch.where((ids == self.padding)[..., None], vectors.detach(), vectors)


class StackedLayer(nn.Module):
    """Self-attention and the two linear layers after it, of n networks."""

    def __init__(self, shape: Any, count: int) -> None:
        super().__init__()
        width, inner = shape.hidden_size, shape.intermediate_size
        self.qkv = StackedLinear(count, width, 3 * width)
        self.mixed = StackedLinear(count, width, width)
        self.mixed_norm = StackedNorm(count, width, shape.layer_norm_eps)
        self.up = StackedLinear(count, width, inner)
        self.down = StackedLinear(count, inner, width)
        self.norm = StackedNorm(count, width, shape.layer_norm_eps)
        self.heads = shape.num_attention_heads

    def forward(self, hidden: Tensor, packing: Packing, dropout: LayerDropout) -> Tensor:
        """(n, M, D) -> (n, M, D)."""
        looked = self.mixed(self._attend(hidden, packing, dropout.shares))
        hidden = self.mixed_norm(_drop(looked, dropout.mixed) + hidden)
        inner = self.down(self._activated(hidden, packing.spans is not None))
        return self.norm(_drop(inner, dropout.inner) + hidden)

    def _activated(self, hidden: Tensor, fused: bool) -> Tensor:
        """(n, M, D) -> (n, M, inner)."""
        if not fused:
            return F.gelu(self.up(hidden))
        activated: Tensor = _Activated.apply(self.up.product(hidden), self.up.bias)
        return activated

    def _attend(self, hidden: Tensor, packing: Packing, dropout: Mask | None) -> Tensor:
        """(n, M, D) -> (n, M, D), over the tokens of each text."""
        qkv = self.qkv(hidden)
        if packing.spans is not None:
            return _attended(qkv, packing, self.heads, dropout)
        laid = packing.lay_out(qkv)  # (n, B, T, 3 D)
        n, texts, tokens, _ = laid.shape
        split = laid.view(n * texts, tokens, 3, self.heads, -1)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind()  # (n * B, H, T, D / H) each
        seen = packing.mask.reshape(n * texts, 1, 1, tokens)
        if dropout is None:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        else:
            # Fused kernels draw dropout from one stream for the whole batch, so here the shares are written out.
            scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~seen, torch.finfo(q.dtype).min)
            shares = scores.softmax(-1).view(n, texts, self.heads, tokens, tokens)
            out = dropout.drop(shares).flatten(0, 1).to(v.dtype) @ v
        return packing.gather(out.transpose(1, 2).reshape(n, texts, tokens, -1))


def _attended(qkv: Tensor, packing: Packing, heads: int, dropout: Mask | None) -> Tensor:
    """The same by our own kernels; see ``kernels``, which must have been imported."""
    rows, columns, rate = dropout or (packing.spans, packing.spans, 0.0)
    sizes = heads, packing.mask.shape[-1], rate
    out: Tensor = torch.ops.jointmatch.attend(qkv, packing.spans, rows, columns, *sizes)[0]
    return out


def _drop(x: Tensor, mask: Mask | None) -> Tensor:
    return x if mask is None else mask.drop(x)
