"""A WordNet of a few words, in the real files' format, and a machine without any other."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from jointmatch.augment.wordnet import source

LICENCE = "  1 This line stands for the licence.\n"
# part of speech: synset lines without their gloss, and the gloss
SYNSETS = {
    "noun": [
        (
            "00000010 06 n 03 car 0 automobile 0 motorcar 0 000",
            "a car or automobile, cars or automobiles; the car, an automobile, automobiles",
        ),
        ("00000020 06 n 02 car 1 cabin 0 000", "where passengers sit"),
        (
            "00000030 18 n 02 doctor 0 physician 0 000",
            "a doctor or physician, doctors or physicians; the physician, physicians, doctors",
        ),
        ("00000040 15 n 02 China 0 cathay 0 000", "a country"),
        ("00000050 06 n 02 china 0 crockery 0 000", "a dish"),
        ("00000060 18 n 01 prime_minister 0 000", "a head of government"),
        ("00000070 18 n 02 minister 0 pastor 0 000", "a pastor; pastors are ministers, a minister, pastors"),
        ("00000080 06 n 02 shop 0 store 0 000", "a store or shop, stores or shops; the store, shop, stores, shops"),
        ("00000090 18 n 02 teacher 0 dominie 0 001 ;u 00000010 n 0201", "who teaches"),
        ("00000100 04 n 01 purchase 0 000", "what is bought"),
    ],
    "verb": [
        (
            "00000110 35 v 02 start 0 begin 0 000 01 + 02 00",
            "begin, began, begun, beginning; begins, began, begun, begins",
        ),
        ("00000120 40 v 02 buy 0 purchase 0 000 01 + 08 00", "purchase, purchased; purchases purchased purchase"),
        ("00000130 35 v 01 start_up 0 000 01 + 02 00", "begin to run"),
    ],
    "adj": [
        ("00000210 00 a 02 big 0 large 0 001 & 00000220 a 0000", "large or larger or largest; large, larger, largest"),
        ("00000220 00 s 01 huge 0 001 & 00000210 a 0000", "very big, bigger, biggest; big bigger biggest"),
    ],
    "adv": [("00000310 02 r 02 rapidly 0 quickly 0 000", "rapidly or quickly; quickly, rapidly")],
}
INDEX = {
    "noun": [
        "automobile n 1 0 1 1 00000010", "cabin n 1 0 1 0 00000020", "car n 2 0 2 2 00000010 00000020",
        "cathay n 1 0 1 0 00000040", "china n 2 0 2 0 00000050 00000040", "crockery n 1 0 1 0 00000050",
        "dominie n 1 0 1 0 00000090", "doctor n 1 0 1 1 00000030", "minister n 1 0 1 1 00000070",
        "motorcar n 1 0 1 0 00000010", "pastor n 1 0 1 0 00000070", "physician n 1 0 1 1 00000030",
        "prime_minister n 1 0 1 0 00000060", "purchase n 1 0 1 1 00000100", "shop n 1 0 1 1 00000080",
        "store n 1 0 1 1 00000080", "teacher n 1 0 1 0 00000090",
    ],
    "verb": [
        "begin v 1 0 1 1 00000110", "buy v 1 0 1 1 00000120", "purchase v 1 0 1 1 00000120",
        "start v 1 0 1 1 00000110", "start_up v 1 0 1 0 00000130",
    ],
    "adj": ["big a 1 0 1 1 00000210", "huge a 1 1 & 1 0 00000220", "large a 1 0 1 1 00000210"],
    "adv": ["quickly r 1 0 1 1 00000310", "rapidly r 1 0 1 1 00000310"],
}  # fmt: skip
EXCEPTIONS = {
    "noun": ["women woman"],
    "verb": ["began begin", "begun begin", "beginning begin", "bought buy"],
    "adj": ["bigger big", "biggest big"],
    "adv": [],
}
COUNTS = [
    "automobile%1:06:00:: 1 60", "begin%2:30:00:: 1 90", "big%3:00:01:: 1 80", "buy%2:40:00:: 1 60",
    "car%1:06:00:: 1 70", "car%1:06:01:: 2 2", "crockery%1:06:00:: 1 60", "dominie%1:18:00:: 1 60",
    "doctor%1:18:00:: 1 60", "huge%5:00:01:big:00 1 40", "large%3:00:00:: 1 90", "minister%1:18:00:: 1 60",
    "pastor%1:18:00:: 1 60", "physician%1:18:00:: 1 60", "purchase%1:04:00:: 1 180",
    "purchase%2:40:00:: 1 60", "quickly%4:02:00:: 1 80",
    "rapidly%4:02:00:: 1 60", "shop%1:06:00:: 1 60", "start%2:30:00:: 1 90", "store%1:06:00:: 1 60",
]  # fmt: skip


def write_wordnet(folder: Path, line_end: str = "\n") -> Path:
    """The small WordNet as files in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {"cntlist.rev": "".join(f"{line}\n" for line in COUNTS)}
    for part in source.PARTS:
        files[f"data.{part}"] = LICENCE + "".join(f"{head} | {gloss}  \n" for head, gloss in SYNSETS[part])
        files[f"index.{part}"] = LICENCE + "".join(f"{line}  \n" for line in INDEX[part])
        files[f"{part}.exc"] = "".join(f"{line}\n" for line in EXCEPTIONS[part])
    for name, text in files.items():
        (folder / name).write_bytes(text.replace("\n", line_end).encode())
    return folder


@pytest.fixture
def bare_machine(tmp_path, monkeypatch) -> Path:
    """No WordNet anywhere; returns the home folder."""
    home = tmp_path / "home"
    home.mkdir()
    for name in (source.VARIABLE, "NLTK_DATA", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(source, "_DEBIAN", str(tmp_path / "debian"))
    monkeypatch.setattr(source, "_PREFIXES", (str(tmp_path / "prefix"),))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return home


@pytest.fixture
def small_wordnet(bare_machine, tmp_path, monkeypatch) -> Path:
    """The small WordNet is the one that is found."""
    folder = write_wordnet(tmp_path / "small")
    monkeypatch.setenv(source.VARIABLE, str(folder))
    return folder
