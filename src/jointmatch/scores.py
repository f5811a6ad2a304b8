"""What a finished run's predictions are worth on the parts whose labels are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jointmatch.comparison import Compared
from jointmatch.data import Splits, Texts
from jointmatch.leads import Hits, hits_on
from jointmatch.training.metrics import brief, full_metrics
from jointmatch.types import CROSS_VALIDATION, NETWORKS_ALONE
from jointmatch.words import WordReader, harm

Probs = Mapping[str, np.ndarray]
"""Part -> probabilities (M, C)."""


def truths_of(splits: Splits) -> dict[str, np.ndarray]:
    """The parts that are scored -> their labels (M,)."""
    parts = {"dev": splits.dev, "test": splits.test}
    return {name: np.array(part.labels) for name, part in parts.items() if part is not None}


class Scores:
    """A run's predictions held against the truth, and against what else was tried.

    Args:
        splits: What it was trained on and is scored on.
        alone: Its networks' probabilities on each scored part.
        reader: What reads words beside the networks, if anything does.
    """

    def __init__(self, splits: Splits, alone: Probs, reader: WordReader | None) -> None:
        self.splits, self.reader, self.truths = splits, reader, truths_of(splits)
        self.alone = alone
        self.probs = {part: self._with_words(part, probs) for part, probs in alone.items()}

    def _with_words(self, part: str, networks: np.ndarray) -> np.ndarray:
        if self.reader is None:
            return networks
        return self.reader.beside(networks, self.reader.words.rows(self._texts(part).texts))

    def _texts(self, part: str) -> Texts:
        """The texts of a scored part, or those that a cross-validation leaves out in turn."""
        texts = {CROSS_VALIDATION: self.splits.labeled, "dev": self.splits.dev, "test": self.splits.test}[part]
        assert texts is not None
        return texts

    def full(self) -> dict[str, dict[str, Any]]:
        """Part -> all metrics."""
        return self._metrics(self.probs)

    def of_networks(self) -> dict[str, dict[str, Any]] | None:
        """The same for the networks alone, if words are read beside them."""
        return self._metrics(self.alone) if self.reader else None

    def _metrics(self, probs: Probs) -> dict[str, dict[str, Any]]:
        return {part: full_metrics(probs[part], y, self.splits.classes) for part, y in self.truths.items()}

    def harm_of_words(self) -> str | None:
        """A warning if reading words does harm on dev. Nothing is decided on test, not even this."""
        if self.reader is None or "dev" not in self.truths:
            return None
        alone, both = (probs["dev"].argmax(-1) == self.truths["dev"] for probs in (self.alone, self.probs))
        return harm(alone, both, "on the dev part")

    def beside(self, compared: Compared) -> dict[str, Any]:
        """What a result says of the methods that the run is compared with."""
        if not self.truths:
            return {"cross_validation": compared.scores}
        alone = {part: brief(self.alone[part], y) for part, y in self.truths.items()}
        return {"baselines": compared.scores | ({NETWORKS_ALONE: alone} if self.reader else {})}

    def hits(self, compared: Compared | None, algorithm: str) -> Hits:
        """Which texts each method got right."""
        right = {part: dict(own) for part, own in compared.right.items()} if compared else {}
        for part, y in self.truths.items():
            right.setdefault(part, {})[algorithm] = self.probs[part].argmax(-1) == y
        return {part: hits_on(self._texts(part).digest(), own) for part, own in right.items()}
