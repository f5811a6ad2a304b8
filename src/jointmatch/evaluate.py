"""Score a trained model on a labelled file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from jointmatch.config import DataConfig
from jointmatch.data.account import TextAccount
from jointmatch.data.labels import encode
from jointmatch.data.load import labeled_rows
from jointmatch.data.tables import read_table
from jointmatch.errors import DataError
from jointmatch.listener import Listener
from jointmatch.model import Model
from jointmatch.training.metrics import full_metrics


def evaluate_file(
    load_model: Callable[[], Model], path: Path, config: DataConfig, listener: Listener | None = None
) -> tuple[dict[str, Any], int]:
    """Return all metrics and the number of unlabelled rows left out; tell the listener what is odd about the file."""
    listener = listener or Listener()
    table = read_table(path, config.encoding)  # fail on an unreadable file before loading the model
    model = load_model()
    remembered = model.facts.text_column
    if config.text_column is None and remembered in table:
        config = replace(config, text_column=remembered)
    if config.unlabeled_value is None:
        config = replace(config, unlabeled_value=model.facts.unlabeled_value)
    rows = labeled_rows(table, path, config, listener.warn)
    kept = [i for i, label in enumerate(rows.labels) if label is not None]
    if not kept:
        raise DataError(f"{path} has no labelled row to score. Name the column with --label-column.")
    labeled = rows.rows(kept)
    ids = encode(labeled.labels, model.classes, str(path))
    known = _known(model, labeled.texts, listener)
    account = TextAccount()
    listener.stage("predicting", len(labeled))
    parts = []
    for probs in model.stream(account.take(labeled.texts)):
        parts.append(probs)
        listener.advance(len(probs))
    listener.done()
    metrics = full_metrics(np.concatenate(parts), np.array(ids), model.classes) | {"trained_on": known}
    found = account.told("kept and scored")
    if found:
        listener.warn(found)
    return metrics, len(rows) - len(kept)


def _known(model: Model, texts: Sequence[str], listener: Listener) -> int | None:
    """Return how many texts the model was trained on with their labels, None if nobody knows; tell the listener."""
    known = model.seen.count(texts)
    if known is None:
        listener.warn(f"{model.seen.unknown}: cannot tell whether the model was trained on any of these texts.")
    elif known:
        what = f"{known} of {len(texts)} text(s) are among the labelled ones that this model was trained on"
        listener.warn(f"{what}: the score is too kind.")
    return known
