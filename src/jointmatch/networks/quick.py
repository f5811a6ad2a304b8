"""A frozen BERT on a CPU, faster than ``transformers``' module: the same numbers, or nearly so in integers.

Why it is quicker, and what else was tried, is in docs/decisions/0008-features-on-a-cpu.md.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jointmatch.networks.encoder import Encoder
from jointmatch.networks.stacked.weights import embedding_sources, layer_sources, unusual
from jointmatch.networks.tokens import Tokens
from jointmatch.ragged import few_sizes, filled_up

Engine = Literal["auto", "transformers", "int8"]
"""How frozen encoders run on a CPU: the fastest way in fp32, as ``transformers`` does it, or in 8-bit integers."""

TOLERANCE = {"auto": 1e-5, "int8": 0.14}
"""How far a feature may be from ``transformers``' own, relative to the length of the latter.

The first is ten times what fp32 loses by rounding; the second corresponds to a cosine of 0.99.
"""

GAIN = 1.25  # factor by which oneDNN's products must be faster: where it makes no difference, chance must not decide

_SMALLEST = 1e-30  # a row of zeros has no scale of its own


class Linear:
    """A product in fp32, (M, in) -> (M, out)."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.weight, self.bias = weight, bias

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


class PackedLinear(Linear):
    """The same by oneDNN, for which the weights are repacked once.

    In fp32 torch itself uses another library, which on some processors takes more than twice as long.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__(torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()), bias)

    def __call__(self, x: Tensor) -> Tensor:
        product: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return product


class IntegerLinear(Linear):
    """The same in 8-bit integers with exact sums.

    Every output of the weights and every token has its own scale, so that a text's features do not depend on the
    texts that share its batch.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        quantised, scale = in_integers(weight)
        super().__init__(quantised.t(), bias)
        self.scale = scale[:, 0]

    def __call__(self, x: Tensor) -> Tensor:
        quantised, scale = in_integers(x)
        return torch._int_mm(quantised, self.weight).float().mul_(scale).mul_(self.scale).add_(self.bias)


def in_integers(x: Tensor) -> tuple[Tensor, Tensor]:
    """(M, K) -> int8 (M, K) and scale (M, 1): each row's largest magnitude becomes 127."""
    scale = torch.maximum(x.amax(1, keepdim=True), -x.amin(1, keepdim=True)).clamp_(min=_SMALLEST).div_(127)
    return (x / scale).round_().to(torch.int8), scale


class QuickBert:
    """The layers of a ``BertModel`` that are read, without what only training needs. Holds its weights, not the module.

    Args:
        bert: The module; its weights must no longer change.
        depths: The layers to read, counted from 1; those above the last one are left out.
        kind: How products are computed.
    """

    def __init__(self, bert: nn.Module, depths: set[int], kind: type[Linear]) -> None:
        shape: Any = bert.config
        self.heads, self.width, self.epsilon = shape.num_attention_heads, shape.hidden_size, shape.layer_norm_eps
        self.depths, self.integers = depths, issubclass(kind, IntegerLinear)
        theirs = {name: tensor.detach() for name, tensor in bert.state_dict().items()}
        sources = embedding_sources()
        for number in range(max(depths)):
            sources |= layer_sources(number)
        # Query, key and value are concatenated: one product instead of three.
        self.weights = {
            ours: torch.cat([theirs[name] for name in names]) if len(names) > 1 else theirs[names[0]]
            for ours, names in sources.items()
        }
        self.positions = self.weights["embeddings.positions"] + self.weights["embeddings.segments"][0]
        self.linear = {
            f"{number}.{part}": kind(*(self.weights[f"layers.{number}.{part}.{which}"] for which in ("weight", "bias")))
            for number in range(max(depths))
            for part in ("qkv", "mixed", "up", "down")
        }

    def __call__(self, tokens: Tokens) -> dict[int, Tensor]:
        """(B, T) -> {depth: (B, T, D)} for the layers that are read."""
        batch, length = tokens.ids.shape
        rows = batch * length
        mask = None if bool(tokens.mask.all()) else tokens.mask[:, None, None, :]
        x = F.embedding(tokens.ids, self.weights["embeddings.words"]).add_(self.positions[:length])
        x = F.pad(x.view(rows, self.width), (0, 0, 0, filled_up(rows, few_sizes(rows)) - rows))  # (M, D)
        x = self._norm(x, "embeddings.norm")
        read = {}
        for number in range(max(self.depths)):
            mixed = self.linear[f"{number}.mixed"](self._attention(x, number, batch, length, mask))
            x = self._norm(mixed.add_(x), f"layers.{number}.mixed_norm")
            up = F.gelu(self.linear[f"{number}.up"](x))
            x = self._norm(self.linear[f"{number}.down"](up).add_(x), f"layers.{number}.norm")
            if number + 1 in self.depths:
                read[number + 1] = x[:rows].view(batch, length, self.width)
        return read

    def _attention(self, x: Tensor, number: int, batch: int, length: int, mask: Tensor | None) -> Tensor:
        """(M, D) -> (M, D), of which the first B * T rows are the texts' and the rest are filler."""
        rows, each = batch * length, self.width // self.heads
        qkv = self.linear[f"{number}.qkv"](x)[:rows].view(batch, length, 3, self.heads, each)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)  # each (B, heads, T, D / heads)
        out = torch.zeros_like(x)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(1, 2)
        out[:rows].view(batch, length, self.heads, each).copy_(mixed)
        return out

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return F.layer_norm(
            x, (self.width,), self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], self.epsilon
        )


def quicken(encoder: Encoder, engine: Engine) -> str | None:
    """Give a frozen encoder on a CPU its quick form; if that is not possible, return the reason as a sentence.

    The encoder then stays as it was: features come from ``transformers``' module and are right. Moving the encoder or
    loading other weights into it removes the quick form.
    """
    encoder.quick = None
    if engine == "transformers" or (engine == "auto" and encoder.device.type != "cpu"):
        return None
    reason = _why_not(encoder, engine)
    if reason is None:
        shape: Any = encoder.transformer.config
        sizes = (shape.intermediate_size, shape.hidden_size, torch.get_num_threads())
        kind = IntegerLinear if engine == "int8" else quicker_in_fp32(*sizes)
        quick = QuickBert(encoder.transformer, set(encoder.depths), kind)
        distance = _distance(encoder, quick)
        if distance <= TOLERANCE[engine]:  # False for NaN
            encoder.quick = quick
            return None
        reason = f"they would be {distance:.2g} of their length away from it, wanted at most {TOLERANCE[engine]:g}"
    wanted = "in int8" if engine == "int8" else "the quick way"
    return f"Features are computed by the backbone's own module, not {wanted}: {reason}."


@cache
def quicker_in_fp32(outputs: int, inputs: int, threads: int) -> type[Linear]:
    """The faster of two ways to the same numbers on this machine: they take turns, and each one's best time counts.

    ``threads`` is the number of threads in use: with another number the other way may be faster.
    """
    if not torch.backends.mkldnn.is_available():
        return Linear
    weight, x = torch.ones(outputs, inputs), torch.ones(512, inputs)
    try:
        ways = {kind: kind(weight, weight[:, 0]) for kind in (Linear, PackedLinear)}
        best = dict.fromkeys(ways, float("inf"))
        with torch.inference_mode():
            for _ in range(6):
                for kind, way in ways.items():
                    start = time.perf_counter()
                    way(x)
                    best[kind] = min(best[kind], time.perf_counter() - start)
    except (RuntimeError, AttributeError, TypeError):  # torch's internal names, which another version may lack
        return Linear
    return PackedLinear if best[Linear] > GAIN * best[PackedLinear] else Linear


def _why_not(encoder: Encoder, engine: Engine) -> str | None:
    from transformers import BertModel

    if encoder.device.type != "cpu":
        return f"that is for a CPU, and the encoder is on {encoder.device.type}"
    if type(encoder.transformer) is not BertModel:
        return f"it is a {type(encoder.transformer).__name__}, wanted a BertModel"
    if engine == "int8" and not torch.backends.mkldnn.is_available():
        return "this build of torch has no oneDNN, without which integers are slow"
    return unusual(encoder.transformer.config)


@torch.inference_mode()
def _distance(encoder: Encoder, quick: QuickBert) -> float:
    """The largest relative distance between the features of both forms, on padded texts of random tokens."""
    shape: Any = encoder.transformer.config
    width = min(24, shape.max_position_embeddings)
    ids = torch.randint(shape.vocab_size, (4, width), generator=torch.Generator().manual_seed(0))
    tokens = Tokens(ids, torch.arange(width) < torch.tensor([width, width // 2, width // 3, 1]).clamp(min=1)[:, None])
    training = encoder.training
    slow = encoder.eval()(tokens)
    encoder.quick = quick
    found = encoder(tokens)
    encoder.quick = None
    encoder.train(training)
    distance = (found - slow).norm(dim=-1) / slow.norm(dim=-1).clamp(min=_SMALLEST)
    return float(distance.max())
