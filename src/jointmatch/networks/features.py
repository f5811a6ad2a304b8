"""Frozen features of texts, computed once and cached on disk text by text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np
import torch

from jointmatch.cache import Cache, key
from jointmatch.networks.backbones import Backbone
from jointmatch.networks.encoder import Encoder
from jointmatch.networks.tokens import Tokenizer, in_batches

VERSION = "1"  # increase when the same text and settings would give different features
TOKENS_PER_BATCH = 32768  # on a GPU; a batch that does not fit into its memory is halved
TOKENS_PER_CORE = 1024  # on a CPU: what stays near its core; twice as many were slower
MOST_CORES = 8  # a batch for more cores takes too much memory
TEXTS_PER_WRITE = 2048


def feature_settings(backbone: Backbone, encoder: Encoder, tokenizer: Tokenizer, device: torch.device) -> str:
    """Everything besides the text that a feature depends on; a GPU rounds differently from a CPU.

    The fp32 engines on a CPU differ by no more than batches do, so they share features; integers have their own.
    """
    depths = sorted(set(encoder.depths))
    parts = [VERSION, backbone.fingerprint(), depths, encoder.pooling, tokenizer.max_length, device.type]
    odd = ["int8"] * encoder.in_integers + ["middle cut"] * (tokenizer.cut == "middle")
    return json.dumps(parts + odd)


def tokens_per_batch(device: torch.device) -> int:
    """How many padded tokens go through an encoder at once."""
    return TOKENS_PER_CORE * min(torch.get_num_threads(), MOST_CORES) if device.type == "cpu" else TOKENS_PER_BATCH


@torch.inference_mode()
def extract(
    texts: Sequence[str],
    encoder: Encoder,
    tokenizer: Tokenizer,
    device: torch.device,
    progress: Callable[[int], None] = lambda done: None,
) -> np.ndarray:
    """Features (layers, texts, D) as float32, in the order of the texts."""
    ids = tokenizer.encode(texts)
    out = np.empty((len(encoder.layers), len(texts), encoder.width), dtype=np.float32)
    for rows, found in in_batches(tokenizer, ids, tokens_per_batch(device), device, encoder):
        out[:, rows] = found.float().cpu().numpy()
        progress(len(rows))
    return out


def cached_features(
    texts: Sequence[str],
    encoder: Encoder,
    tokenizer: Tokenizer,
    device: torch.device,
    cache: Cache,
    settings: str,
    progress: Callable[[int], None] = lambda done: None,
) -> np.ndarray:
    """Like ``extract``, but texts seen before are read back. Interrupted work is kept."""
    keys = [key(settings, text) for text in texts]
    place = {k: i for i, k in reversed(list(enumerate(keys)))}  # key -> first text that has it
    depths = sorted(set(encoder.depths))
    stored = np.empty((len(depths), len(texts), encoder.width), dtype=np.float32)
    found = cache.get(keys)
    rows = np.frombuffer(b"".join(found.values()), np.float32).reshape(len(found), len(depths), encoder.width)
    stored[:, [place[k] for k in found]] = rows.swapaxes(0, 1)
    missing = [i for k, i in place.items() if k not in found]
    progress(len(found))
    # Texts of similar length share a batch; sorting over all texts also makes each write's batches even.
    missing.sort(key=lambda i: -len(texts[i]))
    of_depth = [encoder.depths.index(depth) for depth in depths]
    for start in range(0, len(missing), TEXTS_PER_WRITE):
        part = missing[start : start + TEXTS_PER_WRITE]
        fresh = extract([texts[i] for i in part], encoder, tokenizer, device, progress)[of_depth]
        stored[:, part] = fresh
        cache.put({keys[i]: fresh[:, j].tobytes() for j, i in enumerate(part)})
    if len(place) < len(texts):
        stored = stored[:, [place[k] for k in keys]]  # repeated texts refer to their first occurrence
    return stored if depths == encoder.depths else stored[[depths.index(depth) for depth in encoder.depths]]
