"""``jointmatch cache``: what is there, emptied, cut down to a size."""

import json
import sqlite3

import pytest

from jointmatch.cache import Cache, cache_folder, key


@pytest.fixture
def filled() -> Cache:
    """1,000 views of a kilobyte and two features; the thesaurus; and a file that is not ours."""
    views = Cache("views")
    for start in range(0, 1000, 100):
        views.put({key(str(i)): b"v" * 1000 for i in range(start, start + 100)})
    Cache("features").put({b"a": b"1", b"b": b"2"})
    (cache_folder() / "wordnet-0123.json").write_text("{}" + " " * 998)
    with sqlite3.connect(cache_folder() / "foreign.sqlite") as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
        db.execute("INSERT INTO bookmarks VALUES ('kept')")
    db.close()
    return views


def caches(command, *words) -> dict:
    ran = command("cache", *words, "--json")
    assert ran.code == 0, ran.err
    return {entry["name"]: entry for entry in json.loads(ran.out)["caches"]}


def test_nothing_cached_is_said(command):
    ran = command("cache")
    assert (ran.code, ran.out) == (0, f"Nothing is cached in {cache_folder()}.\n")


def test_each_file_is_shown_with_its_entries_size_and_path(command, filled):
    shown = caches(command)
    assert {name: entry["entries"] for name, entry in shown.items()} == {"features": 2, "views": 1000, "wordnet": None}
    assert shown["views"]["path"] == str(filled.path)
    assert shown["views"]["bytes"] == filled.size() > 1_000_000
    assert shown["wordnet"]["bytes"] == 1000
    plain = command("cache").out
    assert "1,000" in plain
    assert "1.0 kB" in plain
    assert str(filled.path) in plain


def test_prune_empties_what_is_ours_and_nothing_else(command, filled):
    ran = command("cache", "--prune")
    assert ran.code == 0, ran.err
    assert "Freed 1." in ran.out
    assert {name: entry["entries"] for name, entry in caches(command).items()} == {"features": 0, "views": 0}
    assert filled.size() < 50_000
    with sqlite3.connect(cache_folder() / "foreign.sqlite") as db:
        assert db.execute("SELECT * FROM bookmarks").fetchall() == [("kept",)]
    db.close()


def test_prune_with_a_name_empties_that_one(command, filled):
    left = caches(command, "--prune", "views")
    assert {name: entry["entries"] for name, entry in left.items()} == {"views": 0}
    assert {name: entry["entries"] for name, entry in caches(command).items()} == {
        "features": 2,
        "views": 0,
        "wordnet": None,
    }


def test_a_size_keeps_the_newest_entries(command, filled):
    shown = caches(command, "--max-size", "300kB")
    assert shown["features"]["entries"] == 2
    assert shown["wordnet"]["bytes"] == 1000
    assert 150 <= shown["views"]["entries"] <= 300
    assert shown["views"]["bytes"] <= 300_000
    left = shown["views"]["entries"]
    assert len(filled.get([key(str(i)) for i in range(1000 - left, 1000)])) == left


def test_a_cache_that_broke_is_shown_and_can_be_deleted(command):
    broken = cache_folder() / "views.sqlite"
    broken.parent.mkdir(exist_ok=True, parents=True)
    broken.write_bytes(b"this is no database" * 100)
    assert "cannot be used" in caches(command)["views"]["problem"]
    assert caches(command, "--prune") == {}
    assert not broken.exists()


@pytest.mark.parametrize("damage", [slice(0, 4096), slice(3 * 4096, -4096), slice(-20 * 4096, None)], ids=str)
def test_what_a_damaged_cache_says_to_run_starts_it_anew(command, filled, damage):
    """A file whose last pages alone are damaged can be counted, but neither read nor emptied."""
    raw = bytearray(filled.path.read_bytes())
    raw[damage] = b"\x55" * len(raw[damage])
    filled.path.write_bytes(raw)
    broken = Cache("views")
    broken.get([key(str(i)) for i in range(1000)])
    assert broken.problem is not None
    assert broken.problem.endswith("; to start it anew: jointmatch cache views --prune")
    assert command(*broken.problem.rpartition("jointmatch ")[2].split()).code == 0
    anew = Cache("views")
    anew.put({b"a": b"1"})
    assert anew.get([b"a", key("1")]) == {b"a": b"1"}
    assert anew.problem is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--prune", "--max-size", "2GB"], "Got --prune and --max-size"),
        (["--prune", "veiws"], "Did you mean 'views'? There are: features, views, wordnet."),
        (["--max-size", "plenty"], "--max-size is 'plenty', wanted a size such as 500MB or 2GB."),
        (["--max-size", "-1"], "--max-size is '-1', wanted a size"),
    ],
    ids=str,
)
def test_a_mistake_is_said_and_nothing_is_pruned(command, filled, words, message):
    ran = command("cache", *words)
    assert ran.code == 2
    assert message in ran.err
    assert filled.count() == 1000


def test_a_limit_that_is_no_size_is_said(command, filled, monkeypatch):
    monkeypatch.setenv("JOINTMATCH_CACHE_MAX", "much")
    ran = command("cache")
    assert ran.code == 2
    assert "The environment variable JOINTMATCH_CACHE_MAX is 'much', wanted a size such as 500MB or 2GB." in ran.err
