"""Small BERTs of several shapes, and batches for them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from jointmatch.networks import Encoder, Tokens

SHAPES: dict[str, dict[str, Any]] = {
    "flat": {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8},
    "usual": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32},
    "deep": {"hidden_size": 12, "num_hidden_layers": 5, "num_attention_heads": 3, "intermediate_size": 20},
    "wide": {"hidden_size": 40, "num_hidden_layers": 2, "num_attention_heads": 5, "intermediate_size": 72},
}


def bert(seed: int, shape: str = "usual", vocabulary: int = 37, dropout: float = 0.1, **settings: Any) -> BertModel:
    """Weights are large, and none is at its usual start: what is forgotten or swapped shows."""
    config = BertConfig(
        **SHAPES[shape],
        vocab_size=vocabulary,
        max_position_embeddings=24,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        **settings,
    )
    torch.manual_seed(seed)
    module = BertModel(config)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape))
    return module.eval()


def even_bert(seed: int, **settings: Any) -> BertModel:
    """One whose heads are 16 wide, as kernels of our own want them at least."""
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    torch.manual_seed(seed)
    return BertModel(BertConfig(**{**sizes, "vocab_size": 37, "max_position_embeddings": 80, **settings}))


def batch(seed: int = 0, texts: int = 4, length: int = 9, vocabulary: int = 37) -> Tokens:
    """Texts of different lengths, the longest without padding."""
    source = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, vocabulary, (texts, length), generator=source)
    lengths = torch.randint(2, length + 1, (texts,), generator=source)
    lengths[-1] = length
    mask = torch.arange(length) < lengths[:, None]
    return Tokens(ids * mask, mask)


def apart(modules: list[BertModel], tokens: list[Tokens], layers: list[float], pooling: Any = "mean") -> Tensor:
    """What encoders that stand apart give: (N, B, D)."""
    return torch.cat([Encoder(m, [share], pooling)(own) for m, own, share in zip(modules, tokens, layers, strict=True)])


def gradients(module: nn.Module) -> dict[str, Tensor | None]:
    return {name: parameter.grad for name, parameter in module.named_parameters()}
