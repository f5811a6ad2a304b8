"""Where to find Apertium and its language data on this machine, and how to run a direction."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path


class Installation:
    """The program, its data folder and the directions it knows.

    A direction is a shell command line in a ``.mode`` file. It is run as the program itself would run it, but with
    each part told to flush at NUL: the program's own wrapper holds back a text until the next one arrives.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.program = shutil.which("apertium")
        beside = (
            Path(self.program).resolve().parent.parent / "share/apertium" if self.program else "/usr/share/apertium"
        )
        self.folder = Path(folder or os.environ.get("APERTIUM_DATADIR") or beside)

    @cached_property
    def modes(self) -> list[str]:
        """The available directions, such as ``eng-spa``."""
        return sorted(path.stem for path in self.folder.glob("modes/*.mode")) if self.program else []

    def command(self, mode: str) -> list[str]:
        """Return the command that runs a direction for as long as texts arrive, with unknown words marked."""
        parts = self._recipe(mode).replace("$1", "-g").replace("$2", "").split("|")
        shell = " | ".join(re.sub(r"^\s*(\S+)", r"\1 -z", part) for part in parts)
        return ["/bin/sh", "-c", shell]

    def fingerprint(self, modes: Sequence[str]) -> str:
        """Return the program's version and a digest of the directions' rules and dictionaries."""
        if not self.program:
            return "not installed"
        digest = hashlib.blake2b(digest_size=8)
        for mode in modes:
            for name in re.findall(r"'([^']+)'", self._recipe(mode)):
                digest.update(Path(name).read_bytes() if Path(name).is_file() else name.encode())
        return f"{self._version}-{digest.hexdigest()}"

    @cached_property
    def _version(self) -> str:
        assert self.program
        shown = subprocess.run([self.program, "-V"], capture_output=True, text=True, check=False)  # noqa: S603
        return shown.stdout.strip() or "unknown"

    def _recipe(self, mode: str) -> str:
        file = self.folder / "modes" / f"{mode}.mode"
        return file.read_text(encoding="utf-8") if file.is_file() else ""
