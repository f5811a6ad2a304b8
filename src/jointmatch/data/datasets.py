"""Benchmarks by name, read from a folder of files or from the hub.

The folder contains ``NAME/pool``, ``NAME/dev`` and ``NAME/test`` as parquet, CSV, TSV or JSON lines with
the columns ``text`` and ``label``. It is the one given by ``--data-dir``, else by ``JOINTMATCH_DATA``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jointmatch.data.columns import require_label_column, text_column
from jointmatch.data.draw import draw_rows, drawable, few_labels
from jointmatch.data.labels import clean
from jointmatch.data.load import as_texts
from jointmatch.data.splits import Rows, Splits, make_splits
from jointmatch.data.tables import FORMATS, read_table
from jointmatch.errors import DataError, MissingExtraError, UnknownNameError, did_you_mean


@dataclass(frozen=True)
class Benchmark:
    """One of the paper's data sets, and where to find it on the hub."""

    classes: int
    about: str
    hub: str | None = None
    hub_config: str | None = None
    text: str = "text"
    label: str = "label"
    pool_per_class: int = 5000  # the paper's sizes, for drawing pool and dev from the training part on the hub
    dev_per_class: int = 2000


BENCHMARKS: dict[str, Benchmark] = {
    "ag_news": Benchmark(4, "news topics", "fancyzhx/ag_news"),
    "imdb": Benchmark(2, "film reviews, sentiment", "stanfordnlp/imdb", dev_per_class=1000),
    "yahoo_answers": Benchmark(
        10, "question topics", "community-datasets/yahoo_answers_topics", text="best_answer", label="topic"
    ),
    "goemotions": Benchmark(27, "comments, emotions"),
    "empatheticdialogues": Benchmark(32, "situations, emotions"),
    "hurricane": Benchmark(8, "tweets in a disaster"),
    "threecrises": Benchmark(8, "tweets in three disasters"),
}


def data_folder(named: str | Path | None = None) -> Path | None:
    """Return the folder of benchmarks, which may not be there: the one named, else ``JOINTMATCH_DATA``."""
    folder = named or os.environ.get("JOINTMATCH_DATA")
    return Path(folder) if folder else None


def why_no_folder(named: str | Path | None = None) -> str | None:
    """Why the folder of benchmarks cannot be used; None if there is nothing wrong, or none is named."""
    folder, whose = data_folder(named), "--data-dir" if named else "JOINTMATCH_DATA"
    if folder is None or folder.is_dir():
        return None
    return f"{whose} is {folder}, which is not there. Wanted a folder with a folder for each data set."


def part_file(folder: Path | None, name: str, part: str) -> Path | None:
    """Return the file of one part of a data set, in any readable format, or None if there is none."""
    candidates = (folder / name / f"{part}{suffix}" for suffix in FORMATS) if folder else ()
    return next((c for c in candidates if c.is_file()), None)


def is_known(name: str, data_dir: str | Path | None = None) -> bool:
    """Whether a name is that of a benchmark or of a folder with a pool."""
    return name in BENCHMARKS or part_file(data_folder(data_dir), name, "pool") is not None


def load_benchmark(name: str, labels_per_class: int, seed: int, data_dir: str | Path | None = None) -> Splits:
    """Draw labels from the pool by seed and use the rest of the pool without labels.

    Pool texts that also appear in dev or test, and duplicates, are set aside before the draw.
    """
    pool, dev, test = read_benchmark(name, data_dir)
    usable = drawable(pool, dev, test)
    labeled, rest = few_labels(usable, labels_per_class, seed)
    splits = make_splits(labeled, [rest], dev, test)
    splits.counts["set_aside"] = len(pool) - len(usable)
    return splits


def benchmark_digest(name: str, data_dir: str | None = None) -> str:
    """Digest of a data set's texts and labels in every part: results on other data are not comparable."""
    parts = [rows and [rows.texts, [str(label) for label in rows.labels]] for rows in read_benchmark(name, data_dir)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def read_benchmark(name: str, data_dir: str | Path | None = None) -> tuple[Rows, Rows | None, Rows | None]:
    """Return the pool, dev and test rows of a data set, from the folder or the hub."""
    if why := why_no_folder(data_dir):
        raise DataError(why)
    folder = data_folder(data_dir)
    if not is_known(name, data_dir):
        raise UnknownNameError(
            f"Unknown data set {name!r}.{did_you_mean(name, BENCHMARKS)} Known: {', '.join(BENCHMARKS)}; "
            "or a folder with pool, dev and test files in --data-dir."
        )
    if part_file(folder, name, "pool") is None:
        return _from_hub(name)
    parts = [part_file(folder, name, part) for part in ("pool", "dev", "test")]
    pool, dev, test = (_read(path) if path else None for path in parts)
    assert pool is not None
    return pool, dev, test


def _read(path: Path) -> Rows:
    table = read_table(path)
    try:
        text = text_column(table, None, str(path))
        label = require_label_column(table, None, text, str(path))
    except DataError:  # its advice only suits files whose columns can be named on the command line
        found = ", ".join(map(repr, table)) or "none"
        raise DataError(f"{path} has the columns {found}; a benchmark's files have 'text' and 'label'.") from None
    texts = as_texts(table[text], f"{text!r} in {path}")
    return Rows(texts, clean(table[label], where=f"{label!r} in {path}"))


def _from_hub(name: str) -> tuple[Rows, Rows | None, Rows | None]:
    benchmark = BENCHMARKS[name]
    place = "Point --data-dir or JOINTMATCH_DATA at a folder with its pool, dev and test files"
    if benchmark.hub is None:
        raise DataError(f"The data set {name!r} is not on the hub in this form. {place}.")
    try:
        from datasets import load_dataset
    except ImportError:
        raise MissingExtraError(
            f"The data set {name!r} is not in a local folder. {place}, or read it from the hub: "
            'pip install "jointmatch[hub]".'
        ) from None
    try:
        parts = load_dataset(benchmark.hub, benchmark.hub_config)
    except Exception as error:  # the hub's client raises many kinds of error when it is offline
        raise DataError(f"The hub's {benchmark.hub} could not be read ({error}). {place}.") from None
    train, test = (_hub_rows(parts[p], benchmark) for p in ("train", "test"))
    return *split_train(train, benchmark), test


def _hub_rows(part: Any, benchmark: Benchmark) -> Rows:
    names = getattr(part.features[benchmark.label], "names", None)
    labels = [names[y] if names else y for y in part[benchmark.label]]
    return Rows([str(t) for t in part[benchmark.text]], clean(labels))


def split_train(train: Rows, benchmark: Benchmark, seed: int = 0) -> tuple[Rows, Rows]:
    """Draw a disjoint pool and dev set of the paper's sizes from a training part."""
    drawn = draw_rows(train.labels, benchmark.pool_per_class + benchmark.dev_per_class, seed)
    by_class: dict[Any, list[int]] = defaultdict(list)
    for row in drawn:
        by_class[train.labels[row]].append(row)
    pool = [r for rows in by_class.values() for r in rows[: benchmark.pool_per_class]]
    dev = [r for rows in by_class.values() for r in rows[benchmark.pool_per_class :]]
    return train.rows(sorted(pool)), train.rows(sorted(dev))
