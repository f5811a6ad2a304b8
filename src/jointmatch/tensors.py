"""Save tensors to a safetensors file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor


@contextmanager
def plain_disk_errors() -> Iterator[None]:
    """Turn safetensors' own error for a full disk into the ``OSError`` it would be for any other file."""
    try:
        yield
    except SafetensorError as error:
        if "No space left" in str(error) or "os error 28" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        raise


def save_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Save tensors from any device."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with plain_disk_errors():
        save_file(plain, path, metadata=metadata)
