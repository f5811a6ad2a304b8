"""Write files so that a reader finds the old content or the new one, never half of either."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def write_atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then move it into place."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    write_atomically(path, lambda p: p.write_text(text, encoding="utf-8"))


def write_json(path: str | Path, value: Any) -> None:
    """Write indented JSON atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def folder_written_atomically(path: str | Path) -> Iterator[Path]:
    """Yield an empty folder that becomes ``path`` (replacing it) when the block ends well."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp"))
    os.chmod(temporary, 0o777 & ~_umask())
    retired = temporary.with_suffix(".old")
    try:
        yield temporary
        for file in temporary.rglob("*"):  # safetensors makes files only their owner may read
            os.chmod(file, (0o777 if file.is_dir() else 0o666) & ~_umask())
        if path.exists():
            os.replace(path, retired)
        try:
            os.replace(temporary, path)
        except BaseException:
            if retired.exists():
                os.replace(retired, path)
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(retired, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
