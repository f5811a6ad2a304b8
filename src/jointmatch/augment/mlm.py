"""Replacement of words by what the backbone's masked language model expects in their place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jointmatch.augment.base import AUGMENTERS, RatedAugmenter, Surroundings
from jointmatch.augment.gaps import Gapped, make_gaps
from jointmatch.errors import InputError
from jointmatch.files import digest_of
from jointmatch.pretrained import model_folder

if TYPE_CHECKING:
    from jointmatch.augment.infilling import Infiller

_WITH_HEAD = ("ForMaskedLM", "ForPreTraining")  # transformers classes that are saved with such a head
_ONES_WITH_HEAD = "bert-base-uncased or roberta-base"
_SUFFIXES = (".safetensors", ".json", ".txt", ".model")  # weights, configuration and every kind of vocabulary


@AUGMENTERS.register("mlm")
class MaskedLanguageModel(RatedAugmenter):
    """Replace ``rate`` of the words by others that the backbone's masked language model finds likely there."""

    default_rate = 0.15  # the masking rate such models were trained with
    dear = True
    reads_backbone = True
    needs = f"a backbone with a masked-language-model head, such as {_ONES_WITH_HEAD} (minilm has none)"

    def __init__(self, rate: float | None = None) -> None:
        super().__init__(rate)
        self.backbone: str | None = None
        self.backbone_name: str | None = None
        self.counts: Counter[str] = Counter()

    def prepare(self, surroundings: Surroundings) -> None:
        self.backbone_name = surroundings.backbone_name or surroundings.backbone
        if surroundings.backbone != self.backbone:
            self.backbone = surroundings.backbone
            vars(self).pop("infiller", None)

    def missing(self) -> str | None:
        """Judge by the backbone's configuration; a model that is yet to be downloaded may well have the head."""
        if self.backbone is None:
            return f"{self.needs}: name one with --backbone, in Python backbone=..."
        folder = model_folder(self.backbone)
        return None if folder is None or _may_have_head(folder) else self._another()

    def _another(self) -> str:
        return (
            f"a backbone with a masked-language-model head, which {self.backbone_name} has not: take {_ONES_WITH_HEAD}"
        )

    @cached_property
    def infiller(self) -> Infiller:
        """The model, loaded at first use.

        Raises:
            InputError: No backbone is known, or it has no masked-language-model head.
        """
        lack = self.missing()
        if lack:
            raise InputError(f"{self} needs {lack}.")
        from jointmatch.augment.infilling import Infiller

        assert self.backbone is not None
        try:
            return Infiller(str(model_folder(self.backbone) or self.backbone))
        except InputError as error:
            raise InputError(f"{self} needs {self._another()} ({error}).") from None

    @property
    def key(self) -> str:
        """The key; the backbone counts as a setting too."""
        return f"{self}:{_fingerprint(self.backbone) if self.backbone else ''}@{self.version}"

    def report(self) -> str | None:
        parts = ", ".join(f"{count} {what}" for what, count in self.counts.items())
        return f"of {self.counts.total()} view(s) {parts}" if parts else None

    def __call__(self, texts: Sequence[str], rng: np.random.Generator) -> list[str]:
        views = self.attempt(texts, rng.spawn(len(texts)))
        return [text if view is None else view for text, view in zip(texts, views, strict=True)]

    def attempt(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> Sequence[str | None]:
        if self.rate == 0:
            return list(texts)
        gapped = [make_gaps(text, self.rate, rng) for text, rng in zip(texts, rngs, strict=True)]
        found = self.infiller.fill(gapped)
        return [self._view(*each) for each in zip(texts, gapped, found, strict=True)]

    def _view(self, text: str, gapped: Gapped, words: Sequence[str | None] | None) -> str | None:
        if words is None:
            self.counts["left as they were: the model failed on them"] += 1
            return None
        if not any(words):
            self.counts["left as they were: no word that the model could replace"] += 1
            return text
        self.counts["made"] += 1
        return gapped.filled(words)


def _may_have_head(folder: Path) -> bool:
    """Whether the configuration names a class with such a head, or no class at all; the weights decide in the end."""
    try:
        classes = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("architectures")
    except (OSError, ValueError, AttributeError):
        return True
    return not classes or any(str(name).endswith(_WITH_HEAD) for name in classes)


def _fingerprint(backbone: str) -> str:
    """Fingerprint of a folder's file contents, or of a hub model's name and commit."""
    folder = model_folder(backbone)
    if folder is None or not Path(backbone).is_dir():
        return f"{backbone}#{folder.name if folder else 'absent'}"
    return digest_of(p for p in folder.iterdir() if p.suffix in _SUFFIXES)[:16]
