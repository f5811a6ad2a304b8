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
    """Tells whether texts are among those that were labelled, without keeping them.

    Args:
        digests: Of the labelled texts.
        unknown: Why the digests cannot be known, if so.
    """

    def __init__(self, digests: Iterable[str] = (), unknown: str | None = None) -> None:
        self.digests, self.unknown = frozenset(digests), unknown

    @classmethod
    def of(cls, texts: Iterable[str]) -> SeenTexts:
        """Remember texts."""
        return cls(map(_digest, texts))

    def count(self, texts: Sequence[str]) -> int | None:
        """Return how many of these texts are remembered, or None if that cannot be told."""
        if self.unknown:
            return None
        return sum(_digest(text) in self.digests for text in texts) if self.digests else 0

    def save(self, folder: Path) -> None:
        """Write the digests, if they are known, to a file of their own, which earlier versions ignore."""
        if not self.unknown:
            (folder / FILE).write_text(json.dumps(sorted(self.digests)), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> SeenTexts:
        """Read the digests; without a sound file they are unknown, which matters to nobody who only predicts."""
        path = folder / FILE
        try:
            digests = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(digests, list) or not all(isinstance(digest, str) for digest in digests):
                raise ValueError("not a list of digests")
        except FileNotFoundError:
            return cls(unknown=f"{folder} has no {FILE}")
        except (OSError, ValueError, RecursionError) as error:
            return cls(unknown=f"{path} is damaged ({error}; copy it again from where the model comes from)")
        return cls(digests)


def _digest(text: str) -> str:
    return blake2b(same_text(text).encode("utf-8", "surrogatepass"), digest_size=_SIZE).hexdigest()
