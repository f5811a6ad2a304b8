"""How close in meaning a sentence encoder finds two words that WordNet lists together.

WordNet's senses are fine-grained and its counts come from texts of the 1960s: by its lights a
web is an entanglement. What the words mean today was asked once of the backbone, with
``benchmarks/synonym_closeness.py``, and of people who read outputs. The answers ship with the
package, so that the same text and seed give the same view on every machine.
"""

from __future__ import annotations

from importlib import resources


class Closeness:
    """Pairs of words and how close they are, from 0 to 1.

    Args:
        text: Lines such as ``film movie 84 picture 52``: a word, and others with a percentage; ``#`` starts a comment.
            A percentage applies in both directions, except for 100, which marks a pair that somebody has read and
            applies only as written.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._pairs: dict[tuple[str, str], float] = {}
        for line in text.splitlines():
            word, *others = line.partition("#")[0].split() or [""]
            for other, percent in zip(others[::2], others[1::2], strict=True):
                if percent == "100":
                    self._pairs[word, other] = 1.0
                else:
                    self._pairs.setdefault((word, other), int(percent) / 100)
                    self._pairs.setdefault((other, word), int(percent) / 100)

    @classmethod
    def shipped(cls) -> Closeness:
        """The pairs that come with the package."""
        return cls((resources.files("jointmatch.augment.wordnet") / "closeness.txt").read_text(encoding="utf-8"))

    def __call__(self, word: str, other: str) -> float:
        """Return the closeness of two words; 0 if the pair is not listed."""
        return self._pairs.get((word, other), 0.0)
