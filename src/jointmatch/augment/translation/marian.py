"""Back-translation with Marian models, small neural translators for a thousand language pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jointmatch.augment.translation.engine import Engine, Fault
from jointmatch.augment.translation.sentences import latin, sentences
from jointmatch.files import digest_of
from jointmatch.pretrained import model_folder

if TYPE_CHECKING:
    from jointmatch.augment.translation.translator import Translator

_NEEDED = ("config.json", "source.spm", "target.spm", "vocab.json")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class Marian(Engine):
    """Neural translation sentence by sentence: fluent, but slow without a GPU.

    Args:
        language: The language to go through, as in the models' names (``de``, ``fr``).
        source: The texts' language.
        there: The model for the way there, a folder or a name on the hub; by default Helsinki-NLP's.
        back: The model for the way back.
        beams: Beam width of the search for the likeliest translation.
        sampling: On the way there, sample from the model's likeliest words instead: each view of a text differs.
        tokens: Number of tokens, padding included, translated at once.
        device: ``cpu`` or ``cuda``; ``auto`` takes the GPU if there is one.
    """

    def __init__(
        self,
        language: str = "de",
        source: str = "en",
        there: str | Path | None = None,
        back: str | Path | None = None,
        beams: int = 4,
        sampling: bool = False,
        tokens: int = 4096,
        device: str = "auto",
    ) -> None:
        self.language = language
        self.models = (
            str(there or f"Helsinki-NLP/opus-mt-{source}-{language}"),
            str(back or f"Helsinki-NLP/opus-mt-{language}-{source}"),
        )
        self.beams = beams
        self.random = sampling
        self.tokens = tokens
        self.device = device

    def __str__(self) -> str:
        return f"marian-{self.language}" + "-sampling" * self.random

    @property
    def key(self) -> str:
        versions = [f"{model}#{_version(model)}" for model in self.models]
        return f"{self}({' '.join(versions)}, {'sampling and ' * self.random}{self.beams} beams)"

    def missing(self) -> str | None:
        absent = [model for model in self.models if _folder(model) is None]
        if absent:
            lines = " && ".join(f"hf download {model}" for model in absent)
            return f"the models {' and '.join(absent)}; get them with: {lines} (HF_HOME says where they are kept)"
        if not find_spec("sentencepiece"):
            return "the package sentencepiece; get it with: pip install sentencepiece"
        return None

    def round_trip(self, texts: Sequence[str], rngs: Sequence[np.random.Generator]) -> list[str | Fault]:
        there, back = self._translators
        cut = [sentences(text) for text in texts]
        places = [(i, j) for i, parts in enumerate(cut) for j, part in enumerate(parts) if latin(part)]
        seeds = [int(rngs[i].integers(2**62)) for i, _ in places] if self.random else None
        away = there.translate([cut[i][j] for i, j in places], self.beams, seeds)
        home = iter(back.translate([text for text in away if text], self.beams))
        views: list[list[str | None]] = [list(parts) for parts in cut]
        for (i, j), text in zip(places, away, strict=True):
            views[i][j] = next(home) if text else text
        with_words = {i for i, _ in places}
        return [_joined(parts) if i in with_words else Fault.NOTHING for i, parts in enumerate(views)]

    @cached_property
    def _translators(self) -> tuple[Translator, Translator]:
        from jointmatch.augment.translation.translator import Translator

        folders = [_folder(model) for model in self.models]
        assert all(folders)
        there, back = (Translator(str(folder), self.device, self.tokens) for folder in folders)
        return there, back


def _joined(parts: Sequence[str | None]) -> str | Fault:
    """Join the sentences of one text; it fails if one could not be translated, and empty ones are left out."""
    return Fault.FAILED if None in parts else " ".join(part for part in parts if part)


def _folder(model: str) -> Path | None:
    """Return the folder of a model on this machine, or None unless all its files are there."""
    folder = model_folder(model)
    if folder is None:
        return None
    whole = all((folder / name).is_file() for name in _NEEDED) and any((folder / name).is_file() for name in _WEIGHTS)
    return folder if whole else None


def _version(model: str) -> str:
    """Return the commit of a hub model, or a digest of the files of a model in a folder."""
    folder = _folder(model)
    if folder is None:
        return "absent"
    if not Path(model).is_dir():
        return folder.name
    return digest_of(path for name in (*_NEEDED, *_WEIGHTS) if (path := folder / name).is_file())[:16]
