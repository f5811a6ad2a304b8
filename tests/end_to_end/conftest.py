"""The command line in this process, through ``main``, where errors become messages and exit codes."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from jointmatch.cli.main import main
from tests.conftest import topic_texts

FAST = ("--mode", "lite", "--device", "cpu", "--set", "training.steps=20", "--set", "output.folds=2")


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Command = Callable[..., Ran]


@pytest.fixture
def command(monkeypatch, capsys) -> Command:
    """``command("predict", folder, "-", stdin=b"...")`` -> exit code, output and error stream."""

    def call(*words: object, stdin: bytes = b"") -> Ran:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["jointmatch", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), printed.out, printed.err)

    return call


def write_csv(path: Path, texts: Sequence[str], labels: Sequence[object]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *zip(texts, labels, strict=True)])
    return path


@pytest.fixture(scope="session")
def toy(tmp_path_factory) -> Path:
    """A folder with train.csv (15 labels, 45 blanks), dev.csv and test.csv (30 rows each)."""
    folder = tmp_path_factory.mktemp("toy")
    texts, labels = topic_texts(120)
    write_csv(folder / "train.csv", texts[:60], labels[:15] + [""] * 45)
    write_csv(folder / "dev.csv", texts[60:90], labels[60:90])
    write_csv(folder / "test.csv", texts[90:], labels[90:])
    return folder


@pytest.fixture(scope="session")
def model(toy, tiny_backbone, tmp_path_factory) -> Path:
    """A model folder trained on the toy problem."""
    from jointmatch.data import load_splits
    from jointmatch.run import run

    folder = tmp_path_factory.mktemp("trained") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOINTMATCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        settings = {
            "network": {"backbone": str(tiny_backbone)},
            "training": {"mode": "lite", "device": "cpu", "steps": 20},
            "output": {"baselines": False},
        }
        run(load_splits(toy / "train.csv"), settings, folder)
    return folder / "model"


def entries_of(folder: Path) -> dict[str, bytes]:
    """Every file under a folder with its content."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
