"""Digests of a model's labelled texts: a score on texts it has learnt from is not one on new texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from jointmatch.data.splits import same_text

FILE = "labeled.json"
_SIZE = 8  # bytes: enough not to take one text for another


class SeenTexts:
    """Tells whether texts are among those that were labelled, without keeping them."""

    def __init__(self, digests: Iterable[str] = ()) -> None:
        self.digests = frozenset(digests)

    @classmethod
    def of(cls, texts: Iterable[str]) -> SeenTexts:
        """Remember texts."""
        return cls(map(_digest, texts))

    def count(self, texts: Sequence[str]) -> int:
        """Return how many of these texts are remembered."""
        return sum(_digest(text) in self.digests for text in texts) if self.digests else 0

    def save(self, folder: Path) -> None:
        """Write the digests to a file of their own, which earlier versions ignore."""
        (folder / FILE).write_text(json.dumps(sorted(self.digests)), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> SeenTexts:
        """Read the digests, none if an earlier version saved the model; raise ValueError if they are damaged."""
        if not (folder / FILE).is_file():
            return cls()
        digests = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if not isinstance(digests, list) or not all(isinstance(digest, str) for digest in digests):
            raise ValueError(f"{FILE} is not a list of digests")
        return cls(digests)


def _digest(text: str) -> str:
    return blake2b(same_text(text).encode("utf-8", "surrogatepass"), digest_size=_SIZE).hexdigest()
