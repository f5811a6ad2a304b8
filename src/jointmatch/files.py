"""Write files atomically: a reader finds the old content or the new, never half of either; lock and digest them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any


def write_atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then move it into place."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    temporary.touch(exist_ok=False)
    mode = temporary.stat().st_mode
    try:
        write(temporary)
        os.chmod(temporary, mode)  # safetensors creates a file that only its owner may read
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
    """Yield an empty folder that becomes ``path`` (replacing it) if the block succeeds."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    temporary.mkdir()
    mode = temporary.stat().st_mode & 0o666  # as far as the user's umask allows
    retired = temporary.with_suffix(".old")
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                os.chmod(file, mode)
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


@contextmanager
def locked(path: str | Path, names: Iterable[str]) -> Iterator[set[str]]:
    """Lock those of the names that no other process holds, and yield them; the locks end with the process.

    A name maps to a byte of one file, which stays empty: there is nothing to clean up. A process has one such block at
    a time. Where there are no such locks (on Windows), all names are yielded.
    """
    try:
        import fcntl
    except ImportError:
        yield set(names)
        return
    had = set()
    with Path(path).open("a+b") as file:
        for name in names:
            place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            except (BlockingIOError, PermissionError):  # held by another process
                continue
            except OSError:  # this disk does not support locks
                pass
            had.add(name)
        yield had


def digest_of(files: Iterable[Path]) -> str:
    """A digest of the files' names and contents, read again only when a file's time or size has changed."""
    return _digest(tuple((p, p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(files)))


@cache
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in files:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


def _beside(path: Path) -> Path:
    """Return a new name in the same folder, hidden from most listings."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
