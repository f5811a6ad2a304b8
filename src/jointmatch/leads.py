"""How far a method is ahead of its baselines, and the standard error of that lead.

All methods are scored on the same texts, so a lead is much surer than the two scores it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

import numpy as np

from jointmatch.types import NETWORKS_ALONE

Hits = dict[str, dict[str, Any]]
"""Part -> ``texts``, a digest of what was scored, and ``right``: method -> a digit per text, 1 if it was classified
correctly. JSON keeps it as it is."""
Leads = dict[str, dict[str, dict[str, Any]]]
"""Baseline -> part -> ``gain``, ``standard_error`` and what that is ``over``."""


def hits_on(texts: str, right: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Put down which texts (M,) of a part each method got right; ``texts`` is their digest."""
    digits = {name: "".join("1" if hit else "0" for hit in hits) for name, hits in right.items()}
    return {"texts": texts, "right": digits}


def paired_leads(runs: Sequence[Hits], algorithm: str) -> Leads:
    """Return the leads on parts whose texts are the same in all runs, one run for each seed."""
    found: Leads = {}
    over = "seeds and texts" if len(runs) > 1 else "texts alone"
    for part in runs[0]:
        of_part = [run[part] for run in runs if run.get(part, {}).get("texts") == runs[0][part]["texts"]]
        if len(of_part) < len(runs):
            continue
        right = [scored["right"] for scored in of_part]
        for name in rivals(right[0], algorithm):
            if all({name, algorithm} <= own.keys() for own in right):
                gains = np.array([_digits(own[algorithm]) - _digits(own[name]) for own in right])
                lead = {"gain": float(gains.mean()), "standard_error": standard_error(gains), "over": over}
                found.setdefault(name, {})[part] = lead
    return found


def leads_over_seeds(rows: Mapping[str, Any], algorithm: str) -> Leads:
    """Return the leads in a summary of several seeds (method -> part -> accuracy) with their errors over seeds alone.

    That is the whole error if each seed was scored on texts of its own. Otherwise the part due to the texts is missing.
    """
    found: Leads = {}
    for name in rivals(rows, algorithm):
        for part, metrics in rows[name].items():
            pairs = zip(rows[algorithm][part]["accuracy"]["values"], metrics["accuracy"]["values"], strict=True)
            gains = [own - other for own, other in pairs]
            error = stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else 0.0
            lead = {"gain": mean(gains), "standard_error": error, "over": "seeds alone"}
            found.setdefault(name, {})[part] = lead
    return found


def rivals(methods: Mapping[str, Any], algorithm: str) -> list[str]:
    """Return the methods that the algorithm is held against."""
    return [name for name in methods if name not in (algorithm, NETWORKS_ALONE)]


def standard_error(gains: np.ndarray) -> float:
    """Standard error of the mean of ``gains`` (K, n): our hit minus theirs, 1, 0 or -1, for each seed and text.

    Seeds and texts are both samples. Let gain = lead + s[seed] + t[text] + r[seed, text], independent with variances
    S, T and R. Then the mean over all K n gains has the variance S / K + T / n + R / (K n), and

    - the variance over texts of the mean over seeds, divided by n, estimates T / n + R / (K n);
    - the variance over seeds of the mean over texts, divided by K, estimates S / K + R / (K n);
    - the mean square of what is left when both means are subtracted, divided by K n, estimates R / (K n).

    So it is the first, plus the second as far as that is more than the third. Two or three seeds show their own spread
    only roughly. One seed leaves the first, as in McNemar's test, and takes the trained networks as given. One text
    tells nothing and gives 0.
    """
    seeds, texts = gains.shape
    if texts < 2:
        return 0.0
    of_texts = float(gains.mean(0).var(ddof=1)) / texts
    if seeds < 2:
        return of_texts**0.5
    of_seeds = float(gains.mean(1).var(ddof=1)) / seeds
    left = gains - gains.mean(0) - gains.mean(1, keepdims=True) + gains.mean()
    of_both = float((left**2).sum()) / ((seeds - 1) * (texts - 1)) / (seeds * texts)
    return float((of_texts + max(of_seeds - of_both, 0.0)) ** 0.5)


def _digits(hits: str) -> np.ndarray:
    return np.array([int(digit) for digit in hits])
