"""A trained classifier: predict, save, load. Safetensors and JSON only, so a folder cannot run code."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from jointmatch.data.seen import FILE as SEEN
from jointmatch.data.seen import SeenTexts
from jointmatch.data.splits import cut
from jointmatch.errors import InputError, OutputError
from jointmatch.files import folder_written_atomically
from jointmatch.networks import (
    Backbone,
    Encoder,
    Engine,
    Heads,
    HeadShape,
    Networks,
    Tokenizer,
    find_backbone,
    load_tokenizer,
    load_transformer,
    quicken,
    tokens_per_batch,
)
from jointmatch.networks.tokens import Cut, in_batches
from jointmatch.pretrained import quiet_transformers
from jointmatch.tensors import plain_disk_errors, save_tensors
from jointmatch.types import Label
from jointmatch.words import FEWEST_USES, VOCABULARY, WordReader

PLAIN, WITH_WORDS = 1, 2  # formats: networks alone, which the first version reads, or with a word reader
CHUNK = 1024
FACTS = "jointmatch.json"
HEADS = "heads.safetensors"  # of networks that share one encoder


@dataclass(frozen=True)
class ModelFacts:
    """Contents of ``jointmatch.json`` besides the format."""

    classes: list[Label]
    algorithm: str
    recipe: str
    mode: str
    backbone: str
    fingerprint: str
    layers: list[float]
    pooling: str
    max_length: int
    head: dict[str, Any]
    selection: str  # how the checkpoint was chosen
    steps: int = 0
    seed: int = 0
    temperature: float = 1.0
    text_column: str | None = None
    version: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    engine: str = "auto"  # how the encoders are run on a CPU; see network.engine
    cut: Cut = "end"  # part left out of texts longer than max_length
    unlabeled_value: str | int | None = None  # the label that, besides blank ones, means "no label"


class Model:
    """Networks, tokenizer, classes and optionally a word reader.

    Predictions are the mean of the networks' probabilities, averaged with the reader's where there is one. ``seen`` are
    the texts it was given labels of.
    """

    def __init__(
        self,
        networks: Networks,
        tokenizer: Tokenizer,
        backbone: Backbone,
        facts: ModelFacts,
        reader: WordReader | None = None,
        seen: SeenTexts | None = None,
    ) -> None:
        self.networks, self.reader, self.seen = networks.eval(), reader, seen or SeenTexts()
        self.tokenizer, self.backbone, self.facts = tokenizer, backbone, facts
        self.metrics: dict[str, Any] = {}
        for encoder in networks.encoders:  # weights are final now; an encoder that cannot be sped up stays correct
            quicken(encoder, facts.engine)  # type: ignore[arg-type]

    @property
    def classes(self) -> list[Label]:
        """The labels, in the order of the probabilities."""
        return self.facts.classes

    @property
    def device(self) -> torch.device:
        """The device the networks are on."""
        return next(self.networks.parameters()).device

    @torch.inference_mode()
    def network_probs(self, texts: Sequence[str]) -> np.ndarray:
        """Return each network's probabilities (N, M, C)."""
        ids = self.tokenizer.encode(texts)
        probs = np.empty((len(self.networks.heads), len(texts), len(self.classes)), dtype=np.float64)
        for rows, logits in in_batches(self.tokenizer, ids, tokens_per_batch(self.device), self.device, self.networks):
            probs[:, rows] = (logits.double() / self.facts.temperature).softmax(-1).cpu().numpy()
        return probs

    def probs(self, texts: Sequence[str]) -> np.ndarray:
        """Return probabilities (M, C), computed at once."""
        texts = cut(texts)
        networks: np.ndarray = self.network_probs(texts).mean(0)
        return self.reader.beside(networks, self.reader.words.rows(texts)) if self.reader and texts else networks

    def predict_proba(self, texts: Sequence[str]) -> np.ndarray:
        """Return probabilities (M, C), computed in chunks."""
        parts = list(self.stream(texts))
        return np.concatenate(parts) if parts else np.empty((0, len(self.classes)))

    def stream(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        """Yield probabilities chunk by chunk, so that memory does not grow with the number of texts."""
        chunk: list[str] = []
        for text in texts:
            chunk.append(text)
            if len(chunk) == CHUNK:
                yield self.probs(chunk)
                chunk = []
        if chunk:
            yield self.probs(chunk)

    def predict(self, texts: Sequence[str]) -> list[Label]:
        """Return the most probable class of each text, as the user wrote it."""
        return [self.classes[i] for i in self.predict_proba(texts).argmax(-1)]

    def save(self, folder: str | Path) -> None:
        """Write the model folder, replacing an existing model only once everything is written.

        Raises:
            OutputError: if the folder holds anything but a model.
        """
        with folder_written_atomically(_place_for(folder)) as path, plain_disk_errors(), quiet_transformers():
            facts = {"format": WITH_WORDS if self.reader else PLAIN, **asdict(self.facts)}
            (path / FACTS).write_text(json.dumps(facts, indent=2, ensure_ascii=False), encoding="utf-8")
            (path / "metrics.json").write_text(json.dumps(self.metrics, indent=2), encoding="utf-8")
            (path / "README.md").write_text(model_card(self), encoding="utf-8")
            self.tokenizer.pretrained.save_pretrained(path)
            self.seen.save(path)
            if self.reader:
                self.reader.save(path)
            if len(self.networks.encoders) < len(self.networks.heads) or self.facts.mode == "lite":
                save_tensors(self.networks.heads.state_dict(), path / HEADS)
                if self.backbone.is_folder or self.facts.mode == "full":  # a name can be found again, unless trained
                    self.networks.encoders[0].transformer.save_pretrained(path / "encoder")  # type: ignore[union-attr, operator]
            else:
                for i, (encoder, head) in enumerate(zip(self.networks.encoders, self.networks.heads, strict=True)):
                    encoder.transformer.save_pretrained(path / f"network-{i}")  # type: ignore[union-attr, operator]
                    save_tensors(head.state_dict(), path / f"network-{i}" / "head.safetensors")

    def __reduce__(self) -> tuple[Callable[[bytes], Model], tuple[bytes]]:
        """Pickle as the files that ``save`` writes: networks hold objects that cannot be pickled."""
        with tempfile.TemporaryDirectory() as folder:
            self.save(Path(folder) / "model")
            archive = shutil.make_archive(str(Path(folder) / "packed"), "tar", Path(folder) / "model")
            return _unpacked, (Path(archive).read_bytes(),)

    @classmethod
    def load(cls, folder: str | Path, device: str = "cpu") -> Model:
        """Read a model folder written by ``save``."""
        folder = Path(folder)
        form, facts = _read_facts(folder)
        try:
            heads = Heads(HeadShape(**facts.head), len(facts.layers))
            if heads.shape.num_classes != len(facts.classes):
                raise ValueError(f"{len(facts.classes)} classes, but heads for {heads.shape.num_classes}")
            for key, kinds in (("engine", get_args(Engine)), ("cut", get_args(Cut))):
                if (value := getattr(facts, key)) not in kinds:
                    raise ValueError(f"its {key} is {value!r}, wanted one of {', '.join(kinds)}")
            if (folder / HEADS).is_file() or facts.mode == "lite":
                backbone = _one_backbone(folder, facts)
                encoders = [Encoder(load_transformer(backbone), facts.layers, facts.pooling)]  # type: ignore[arg-type]
                heads.load_state_dict(load_file(folder / HEADS))
            else:
                backbone = Backbone(facts.backbone, str(folder))
                encoders = []
                for i, (head, layer) in enumerate(zip(heads, facts.layers, strict=True)):
                    place = folder / f"network-{i}"
                    transformer = load_transformer(Backbone(str(place), str(place)))
                    encoders.append(Encoder(transformer, [layer], facts.pooling))  # type: ignore[arg-type]
                    head.load_state_dict(load_file(place / "head.safetensors"))
            reader = WordReader.load(folder, len(facts.classes)) if form == WITH_WORDS else None
            metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
        except InputError:
            raise
        except (OSError, SafetensorError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"The model folder {folder} is incomplete or damaged: {error}") from None
        tokenizer = _read_tokenizer(folder, facts)
        model = cls(Networks(encoders, heads).to(device), tokenizer, backbone, facts, reader, SeenTexts.load(folder))
        model.metrics = metrics
        return model


def _read_tokenizer(folder: Path, facts: ModelFacts) -> Tokenizer:
    try:
        return Tokenizer(load_tokenizer(Backbone(facts.backbone, str(folder))), facts.max_length, facts.cut)
    except InputError:
        files = "tokenizer.json and tokenizer_config.json"
        raise InputError(f"The model folder {folder} is incomplete or damaged: wanted its {files}.") from None


def _unpacked(archive: bytes) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "packed.tar"
        packed.write_bytes(archive)
        shutil.unpack_archive(packed, Path(folder) / "model", filter="data")
        return Model.load(Path(folder) / "model")


def _place_for(folder: str | Path) -> Path:
    """Return the folder if a model may be written there: only models are ever replaced."""
    path = Path(folder).resolve()
    if path.exists() and not path.is_dir():
        raise OutputError(f"{folder} is a file, wanted a folder for the model.")
    if path == Path.cwd():
        raise OutputError(f"{folder} is the current folder, which cannot be replaced. Name a folder in it.")
    if path.is_dir() and any(path.iterdir()) and not (path / FACTS).is_file():
        raise OutputError(f"{folder} holds files that are not a model's. Choose another folder.")
    return path


def _read_facts(folder: Path) -> tuple[int, ModelFacts]:
    """Return the format and the other facts."""
    path = folder / FACTS
    if not path.is_file():
        nested = folder / "model"
        hint = f" Did you mean {nested}?" if (nested / FACTS).is_file() else ""
        absent = "is a file" if folder.exists() else "does not exist"
        what = "has no jointmatch.json" if folder.is_dir() else absent
        raise InputError(f"{folder} {what}, wanted a model folder that jointmatch wrote.{hint}")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if (form := raw.pop("format")) > WITH_WORDS:
            raise InputError(f"{path} was written by a newer jointmatch ({raw.get('version')}). Upgrade jointmatch.")
        return form, ModelFacts(**raw)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged: {error}.") from None


def _one_backbone(folder: Path, facts: ModelFacts) -> Backbone:
    own = folder / "encoder"
    kept = own.is_dir() or facts.mode == "full"
    backbone = Backbone(str(own), str(own)) if kept else find_backbone(facts.backbone)
    if not kept and backbone.fingerprint() != facts.fingerprint:
        raise InputError(
            f"The backbone {facts.backbone!r} here is not the one this model was trained on (its files differ). "
            "Install the version it was trained with, or train again."
        )
    return backbone


def copy_model(source: Path, target: Path) -> None:
    """Copy a model folder, atomically."""
    with folder_written_atomically(target) as path:
        shutil.copytree(source, path, dirs_exist_ok=True)


def _card_of_words(model: Model) -> list[str]:
    if model.reader is None:
        return []
    count = f"{len(model.reader.words.vocabulary):,} words and word pairs"
    return [
        f"- word reader: a linear classifier over {count}, trained on the networks' own labels; its probabilities "
        "are averaged with theirs (geometric mean)",
        f"- `{VOCABULARY}` holds words and word pairs that occur in {FEWEST_USES} or more training texts: do not "
        "share it if these are confidential",
    ]


def _card_of_seen(model: Model) -> list[str]:
    if model.seen.unknown:
        return []
    return [f"- `{SEEN}` holds digests of the labelled texts, by which `jointmatch evaluate` knows them again"]


def model_card(model: Model) -> str:
    """The README of a model folder."""
    facts = model.facts
    lines = [
        "# A text classifier trained by jointmatch",
        "",
        f"Predicts one of {len(facts.classes)} classes: {', '.join(map(str, facts.classes[:30]))}"
        + (", ..." if len(facts.classes) > 30 else "")
        + ".",
        "",
        f"- algorithm: {facts.algorithm} (recipe {facts.recipe}, mode {facts.mode}, seed {facts.seed})",
        f"- networks: {len(facts.layers)} over {facts.backbone}; their probabilities are averaged",
        *_card_of_words(model),
        f"- of texts with more than {facts.max_length} tokens the {facts.cut} is not read by networks",
        f"- weights kept: {facts.selection}",
        *_card_of_seen(model),
        "",
        "```python",
        "from jointmatch import load",
        'classifier = load("this-folder")',
        'classifier.predict(["some text"])',
        "```",
        "",
    ]
    scores = [
        f"| {part} | {m['n']} | {m['accuracy']:.4f} | {m['macro_f1']:.4f} | {m['ece']:.4f} |"
        for part, m in model.metrics.items()
    ]
    if scores:
        lines += ["| part | texts | accuracy | macro-F1 | calibration error |", "|---|---|---|---|---|", *scores, ""]
    else:
        told = "No labelled dev or test part was given, so these weights have no score of their own."
        lines += [f"{told} Where the method was cross-validated, the run's `result.json` says how well it did.", ""]
    return "\n".join(lines)
