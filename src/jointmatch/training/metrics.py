"""Metrics of predicted probabilities, as fractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_recall_fscore_support

from jointmatch.types import Label


def brief(probs: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Accuracy and macro-F1 of (M, C) probabilities; macro-F1 is over the classes that occur or are predicted."""
    predicted = probs.argmax(-1)
    return {
        "accuracy": float(accuracy_score(labels, predicted)),
        "macro_f1": float(f1_score(labels, predicted, average="macro", zero_division=0)),
    }


def calibration_error(probs: np.ndarray, labels: np.ndarray, bins: int = 15) -> float:
    """Expected calibration error: mean gap between confidence and accuracy over equal-width bins."""
    confidence, correct = probs.max(-1), probs.argmax(-1) == labels
    bin_of = np.minimum((confidence * bins).astype(int), bins - 1)
    total = 0.0
    for b in np.unique(bin_of):
        inside = bin_of == b
        total += inside.mean() * abs(confidence[inside].mean() - correct[inside].mean())
    return float(total)


def full_metrics(probs: np.ndarray, labels: np.ndarray, classes: Sequence[Label]) -> dict[str, Any]:
    """Everything ``jointmatch evaluate`` reports; the scores per class are of all classes of the model."""
    predicted, ids = probs.argmax(-1), np.arange(len(classes))
    precision, recall, f1, support = precision_recall_fscore_support(labels, predicted, labels=ids, zero_division=0)
    per_class = {
        str(name): {
            "precision": float(precision[i]),
            "recall": float(recall[i]),
            "f1": float(f1[i]),
            "support": int(support[i]),
        }
        for i, name in enumerate(classes)
    }
    return {
        "n": len(labels),
        **brief(probs, labels),
        "ece": calibration_error(probs, labels),
        "per_class": per_class,
        "confusion": confusion_matrix(labels, predicted, labels=ids).tolist(),
    }


def no_text_of(where: str, absent: Sequence[Label]) -> str:
    """What macro-F1 makes of the classes that a part lacks, in words."""
    shown = ", ".join(map(repr, absent[:5])) + (", ..." if len(absent) > 5 else "")
    return (
        f"{where} has no text of {len(absent)} class(es) ({shown}): macro-F1 counts such a class as 0 if it was "
        "predicted, and else leaves it out."
    )


def summary(values: Sequence[float]) -> dict[str, Any]:
    """Mean and population standard deviation over seeds."""
    return {"mean": float(np.mean(values)), "std": float(np.std(values)), "values": [float(v) for v in values]}
