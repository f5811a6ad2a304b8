"""What networks read: from rows to the tokens of their views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from jointmatch.augment import spaced_words
from jointmatch.data import Texts
from jointmatch.networks import Tokenizer, Tokens
from jointmatch.networks.word_pieces import at_spaces
from jointmatch.training.learner import ChosenViews
from jointmatch.training.views import Drawn, Views

Part = Literal["pool", "labeled"]


class Inputs:
    """Makes tokens on the CPU, always the same for the same rows and draw.

    The methods return one batch for each network, or a single one that all of them read.

    Args:
        labeled: The labelled texts.
        pool: The unlabelled ones.
        views: One per network, or one for all.
        tokenizer: The backbone's.
    """

    def __init__(self, labeled: Texts, pool: Texts, views: Sequence[Views], tokenizer: Tokenizer) -> None:
        self.labeled, self.pool, self.views, self.tokenizer = labeled, pool, views, tokenizer

    def written_afresh(self) -> bool:
        """Whether views are written as new texts at every draw, which takes longer than looking tokens up."""
        return any(views.written_afresh() for views in self.views)

    def load(self) -> None:
        """Load what is read from disk at first use, such as a thesaurus, before processes are forked from this one."""
        row = np.arange(1)
        self.student(row[: len(self.labeled)], row[: len(self.pool)], 0)
        self.weak(row[: len(self.pool)], 0, 0, "pool")

    def student(self, labeled: np.ndarray, pool: np.ndarray, draw: int) -> list[Tokens]:
        """The weak views of labelled texts, followed by the strong views of pool texts."""
        others = [self._read(views.drawn_strong(self.pool, pool, draw)) for views in self.views]
        return self._behind_labeled(labeled, draw, others)

    def student_chosen(self, labeled: np.ndarray, pool: np.ndarray, draw: int, chosen: ChosenViews) -> list[Tokens]:
        """The same, with every pool text in the view chosen for it."""
        others = [self.tokenizer(texts) for texts in self._chosen_texts(pool, chosen)]
        return self._behind_labeled(labeled, draw, others)

    def weak(self, rows: np.ndarray, draw: int, view: int, part: Part) -> list[Tokens]:
        """View number ``view`` of some texts; 0 is the weak one."""
        texts = self.pool if part == "pool" else self.labeled
        return [self._read(views.drawn(texts, rows, draw, view)) for views in self.views]

    def _behind_labeled(self, labeled: np.ndarray, draw: int, others: list[Tokens]) -> list[Tokens]:
        given = [self._read(views.drawn_weak(self.labeled, labeled, draw)) for views in self.views]
        return [given[i % len(given)].followed_by(own) for i, own in enumerate(others)]

    def _chosen_texts(self, pool: np.ndarray, chosen: ChosenViews) -> list[list[str]]:
        """Each network's list of texts, every text in the view chosen for it."""
        each = list(dict.fromkeys(pool.tolist()))  # a text read in several views was drawn only once
        place = {row: i for i, row in enumerate(each)}
        made = [
            [self._cut(views.drawn(self.pool, each, d, n)).views() for n, d in enumerate(chosen.draws)]
            for views in self.views
        ]
        return [
            [made[network % len(made)][view][place[row]] for row, view in zip(pool.tolist(), own, strict=True)]
            for network, own in enumerate(chosen.which.tolist())
        ]

    def _read(self, drawn: Drawn) -> Tokens:
        """The views' tokens: from those of their words where these are worth keeping, else from the texts."""
        drawn, found = self._cut(drawn), None
        if drawn.texts and drawn.steps is not None:
            found = self.tokenizer.reordered(drawn.texts, spaced_words if drawn.steps else at_spaces, drawn.order)
        return self.tokenizer(drawn.views()) if found is None else found

    def _cut(self, drawn: Drawn) -> Drawn:
        """Drop what is never read of a text before its words are drawn: the draw is then the same for every reader."""
        return drawn.cut(self.tokenizer.shortened)
