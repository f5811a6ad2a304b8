"""Peak memory of ``jointmatch predict`` over files of growing length, through a tiny encoder and a word reader.

    python benchmarks/predict_memory.py

Every size runs in a process of its own; what counts is that the peak does not grow with the rows.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from transformers import BertConfig, BertModel, BertTokenizerFast  # type: ignore[attr-defined]

from jointmatch import TextClassifier
from jointmatch.files import write_json

RESULT = Path(__file__).parent / "results" / "predict_memory.json"
WORDS = ["red", "green", "blue", "fast", "slow", "cold", "warm", "sweet", "sour", "loud"]


def main() -> None:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[2_000, 20_000, 200_000])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        classifier = TextClassifier(
            backbone=str(tiny_encoder(folder / "encoder", WORDS)), mode="lite", settings={"training.steps": 5}
        )
        pool = [f"{one} {other} {third}" for one in WORDS for other in WORDS for third in WORDS]
        classifier.fit(["red red", "blue blue", "red", "blue"], ["warm", "cold", "warm", "cold"], unlabeled=pool)
        classifier.save(folder / "model")
        sizes = []
        for rows in args.rows:
            source = folder / "input.csv"
            write_rows(source, rows)
            sizes.append(measure(folder / "model", source, folder / "output.csv", rows))
            print(f"{rows:>8} rows  peak {sizes[-1]['peak_mib']:.0f} MiB  {sizes[-1]['seconds']:.1f} s")
    growth = sizes[-1]["peak_mib"] / sizes[0]["peak_mib"]
    write_json(RESULT, {"runs": sizes, "peak_growth": growth, "row_growth": args.rows[-1] / args.rows[0]})
    print(f"peak memory grew {growth:.2f} x while the rows grew {args.rows[-1] / args.rows[0]:.0f} x")


def tiny_encoder(folder: Path, words: list[str]) -> Path:
    """A BERT of 2 layers, width 16 and 64 positions that knows a few words, as ``save_pretrained`` writes it."""
    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    shape = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    torch.manual_seed(0)
    BertModel(shape).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    return folder


def write_rows(path: Path, rows: int) -> None:
    """A CSV with texts of 3 to 30 words."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        for i in range(rows):
            writer.writerow([i, " ".join(WORDS[(i * 7 + j * 3) % len(WORDS)] for j in range(3 + i % 28))])


def measure(model: Path, source: Path, target: Path, rows: int) -> dict[str, float]:
    """Run the command in a child of a child, so that its peak is its own."""
    command = [sys.executable, "-m", "jointmatch", "predict", str(model), str(source), "--output", str(target)]
    script = (
        "import resource, subprocess, sys; "
        f"subprocess.run({command!r}, check=True, stderr=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    with target.open(newline="") as file:
        written = sum(1 for _ in csv.reader(file)) - 1
    assert written == rows, f"{written} rows were written, wanted {rows}"
    unit = 1 if sys.platform == "darwin" else 1024
    return {"rows": rows, "peak_mib": int(done.stdout) * unit / 2**20, "seconds": seconds}


if __name__ == "__main__":
    assert resource  # not on Windows
    main()
