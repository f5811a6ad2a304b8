"""The run folder: what a run leaves on disk, each file written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from jointmatch.config import Config
from jointmatch.data import Splits
from jointmatch.errors import OutputError
from jointmatch.files import write_atomically, write_json, write_text
from jointmatch.leads import Hits

OWN_NAMES = (
    "config.toml",
    "history.jsonl",
    "pseudo_labels.parquet",
    "hits.json",
    "result.json",
    "checkpoints",
    "model",
)
WORK = ("history.jsonl", "checkpoints", "result.json")  # any of these shows that a run has done some work
EARLIER = ".earlier-run"  # holds a run while it is being replaced


class RunFolder:
    """Names and writes the files of a run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.model = self.path / "model"
        self.checkpoint = self.path / "checkpoints" / "last.safetensors"
        self.result = self.path / "result.json"
        self.hits = self.path / "hits.json"

    @contextmanager
    def claimed(self, overwrite: bool = False, resume: bool = False) -> Iterator[None]:
        """Claim the folder for a run. A run that fails before doing any work leaves the folder as it was."""
        self.claim(overwrite, resume)
        try:
            yield
        except BaseException:
            if not resume and not self._has_work():
                self._put_back()
            raise
        shutil.rmtree(self.path / EARLIER, ignore_errors=True)

    def claim(self, overwrite: bool = False, resume: bool = False) -> None:
        """Prepare the folder, or raise if it cannot be used, before any work is done."""
        if self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{self.path} is a file, wanted a folder for the run.")
        if self.path.is_dir() and any(self.path.iterdir()):
            self._check_own()
            if not resume:
                self._set_aside(overwrite)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            raise OutputError(f"The output folder {self.path} cannot be written: {error.strerror}.") from None

    def _check_own(self) -> None:
        is_run = any((self.path / name).exists() for name in ("config.toml", EARLIER))
        is_run = is_run or any(self.path.glob("seed-*/config.toml"))
        if not is_run:
            raise OutputError(f"{self.path} holds files that are not a run's. Choose another --output.")

    def _set_aside(self, overwrite: bool) -> None:
        """Keep the replaced run until the new one is complete."""
        if not overwrite:
            raise OutputError(
                f"{self.path} already holds a run. Use --resume to go on with it, --overwrite to replace it, "
                "or another --output."
            )
        if (self.path / EARLIER).exists():  # the run here was itself replacing that one
            self._clear()
            return
        own = self._own()
        (self.path / EARLIER).mkdir()
        for path in own:
            os.replace(path, self.path / EARLIER / path.name)

    def _put_back(self) -> None:
        self._clear()
        earlier = self.path / EARLIER
        if earlier.is_dir():
            for path in list(earlier.iterdir()):
                os.replace(path, self.path / path.name)
            earlier.rmdir()

    def _clear(self) -> None:
        for path in self._own():
            shutil.rmtree(path) if path.is_dir() else os.unlink(path)

    def _own(self) -> list[Path]:
        return [p for p in self.path.iterdir() if p.name in OWN_NAMES or p.name.startswith("seed-")]

    def _has_work(self) -> bool:
        return any((place / name).exists() for place in (self.path, *self.path.glob("seed-*")) for name in WORK)

    def write_config(self, config: Config) -> None:
        """Write the resolved settings."""
        write_text(self.path / "config.toml", tomli_w.dumps(config.to_dict()))

    def changed_settings(self, config: Config) -> list[str]:
        """Describe how the settings differ from those of the run in the folder."""
        try:
            before = tomllib.loads((self.path / "config.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        now = tomllib.loads(tomli_w.dumps(config.to_dict()))
        keys = {(section, key) for of in (before, now) for section in of if section != "output" for key in of[section]}
        values = [
            (f"{s}.{k}", before.get(s, {}).get(k, "unset"), now.get(s, {}).get(k, "unset")) for s, k in sorted(keys)
        ]
        return [f"{name} was {old!r}, is {new!r}" for name, old, new in values if old != new]

    def write_history(self, history: list[dict[str, Any]]) -> None:
        """Write the history, one line per evaluation."""
        write_text(self.path / "history.jsonl", "".join(json.dumps(record) + "\n" for record in history))

    def write_result(self, result: dict[str, Any]) -> None:
        """Write the outcome; its presence means that the run is complete."""
        write_json(self.result, result)

    def read_result(self) -> dict[str, Any]:
        """Read the outcome of a finished run."""
        found: dict[str, Any] = json.loads(self.result.read_text(encoding="utf-8"))
        return found

    def write_hits(self, hits: Hits) -> None:
        """Write which texts each method got right: several seeds are held against baselines text by text."""
        write_json(self.hits, hits)

    def read_hits(self) -> Hits:
        """Read which texts each method got right; none if an earlier version made the run."""
        if not self.hits.exists():
            return {}
        found: Hits = json.loads(self.hits.read_text(encoding="utf-8"))
        return found

    def read_history(self) -> list[dict[str, Any]]:
        """Read the history as it was written."""
        lines = (self.path / "history.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def write_pseudo_labels(self, splits: Splits, probs: np.ndarray) -> str | None:
        """Write the predictions (N, M, C) for the pool; return the reason if they could not be written."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            return "pseudo_labels.parquet was not written: pip install pyarrow"
        mean = probs.mean(0)
        names = [str(label) for label in splits.classes]
        columns: dict[str, Any] = {
            "text": splits.pool.texts,
            "label": _named(names, mean.argmax(-1)),
            "confidence": mean.max(-1) if len(mean) else [],
        }
        for i, own in enumerate(probs):
            columns[f"label_{i}"] = _named(names, own.argmax(-1))
            columns[f"confidence_{i}"] = own.max(-1) if len(own) else []
        columns["true_label"] = [names[y] if y >= 0 else None for y in splits.pool.labels]
        table = pa.table(columns)
        write_atomically(self.path / "pseudo_labels.parquet", lambda p: pq.write_table(table, p))
        return None


def _named(names: Sequence[str], ids: np.ndarray) -> list[str]:
    return [names[i] for i in ids.tolist()]
