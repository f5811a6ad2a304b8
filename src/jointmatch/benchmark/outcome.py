"""The record kept of a run: scores, where it was made, and its history in a few rounded numbers."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jointmatch.benchmark.cell import Cell
from jointmatch.data import Splits
from jointmatch.networks import find_backbone
from jointmatch.run import Outcome
from jointmatch.version import __version__

MOST_CLASSES = 10  # with more, histories per class are not kept: nobody can tell thirty lines apart
KEPT = {
    "step": "step",
    "dev_accuracy": "dev_accuracy",
    "dev_macro_f1": "dev_macro_f1",
    "selected": "pseudo_label_share",
    "agreement": "agreement",
    "pseudo_label_accuracy": "pseudo_label_accuracy",
    "selected_per_class": "pseudo_label_share_per_class",
    "pseudo_label_accuracy_per_class": "pseudo_label_accuracy_per_class",
}
"""What of the history is kept, and as what."""
NETWORKS = "scores_of_networks"
"""Where a result, and its record, have the scores of the networks alone if the run has a word reader."""


def record_of(cell: Cell, outcome: Outcome, splits: Splits, digest: str | None = None) -> dict[str, Any]:
    """The complete record of a cell; ``digest`` tells which texts the data set's name stood for."""
    result = outcome.result
    kept = ("steps", "kept_step", "termination", "seconds", "warnings", "baselines")
    networks = result.get(NETWORKS)
    return {
        "key": cell.key,
        "data": cell.data,
        "labels": cell.labels,
        "imbalance": cell.imbalance,
        "seed": cell.seed,
        "backbone": {"name": backbone_name(cell), "fingerprint": cell.backbone},
        "settings": cell.settings,
        "scores": {part: _brief(scores) for part, scores in result["scores"].items()},
        "scores_of_last_step": {part: _brief(scores) for part, scores in result["scores_of_last_step"].items()},
        **({NETWORKS: {part: _brief(scores) for part, scores in networks.items()}} if networks else {}),
        **{key: result[key] for key in kept if result.get(key) or result.get(key) == 0},
        "pseudo_labels": pseudo_labels(outcome.history),
        "texts": {part: len(getattr(splits, part) or ()) for part in ("labeled", "pool", "dev", "test")}
        | ({"digest": digest} if digest else {}),
        "classes": [str(name) for name in splits.classes],
        "history": compact(outcome.history),
        "hardware": {"device": result["device"], "cores": os.cpu_count()},
        "versions": versions(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def without_words(cell: Cell, record: dict[str, Any]) -> dict[str, Any]:
    """The record a run without a word reader would have left, from one with it: a reader learns after the networks.

    ``cell`` is the one without. If the other run could make no reader, its scores are the networks' as well.
    """
    networks = {key: value for key, value in record.items() if key != NETWORKS}
    warnings = [text for text in record.get("warnings", []) if "word reader" not in text.lower()]
    return (
        networks
        | {
            "key": cell.key,
            "settings": cell.settings,
            "scores": record.get(NETWORKS, record["scores"]),
            "seconds": {stage: seconds for stage, seconds in record["seconds"].items() if stage != "words"},
        }
        | ({"warnings": warnings} if "warnings" in record else {})
    )


def start_kept(record: dict[str, Any]) -> bool:
    """Whether whole networks never scored better on dev than the heads on frozen features that they start with."""
    training = record.get("settings", {}).get("training", {})
    return bool(training.get("mode") == "full" and training.get("warm_start") and record.get("kept_step") == 0)


def versions() -> dict[str, str]:
    """Versions of the software that the numbers come from."""
    import torch
    import transformers

    return {
        "jointmatch": __version__,
        "source": source_digest(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": platform.python_version(),
    }


@cache
def source_digest() -> str:
    """Digest that tells one state of the package's code and recipes from another, whatever its version."""
    folder, digest = Path(__file__).parents[1], hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".toml")):
        digest.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def pseudo_labels(history: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Share and accuracy between the last two evaluations; empty for a method that never gave any."""
    if all(record.get("pseudo_label_accuracy") is None for record in history):
        return {}
    right = history[-1].get("pseudo_label_accuracy")
    return {"share": history[-1]["selected"]} | ({} if right is None else {"accuracy": right})


def compact(history: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """One list per quantity, aligned by evaluation; None where an evaluation has no such number."""
    columns = {}
    for key, name in KEPT.items():
        values = [record.get(key) for record in history]
        many = any(isinstance(v, list) and len(v) > MOST_CLASSES for v in values)
        if not many and any(v is not None for v in values):
            columns[name] = [_rounded(v) for v in values]
    return columns


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return round(value, 4) if isinstance(value, float) else value


def _brief(scores: dict[str, Any]) -> dict[str, float]:
    return {key: scores[key] for key in ("accuracy", "macro_f1", "ece") if key in scores}


def backbone_name(cell: Cell) -> str:
    """The backbone's name for people, not the folder where it happens to be."""
    asked = str(cell.asked.get("network", {}).get("backbone", "auto"))
    found = find_backbone(asked)
    return embedded_name(cell.backbone) or (
        os.path.basename(os.path.normpath(asked)) if found.is_folder else found.name
    )


def embedded_name(fingerprint: str) -> str | None:
    """The embedded backbone that has these weights, if it is installed here."""
    from jointmatch.networks.backbones import EMBEDDED, embedded_is_installed

    names = (name for name in EMBEDDED if embedded_is_installed(name))
    return next((name for name in names if find_backbone(name).fingerprint() == fingerprint), None)
