"""The disk cache: whole batches, several processes, a killed one, a folder that cannot be written."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from jointmatch.cache import Cache, cache_folder, key


def entries(prefix: str, count: int = 5) -> dict[bytes, bytes]:
    return {key(prefix, str(i)): f"{prefix} {i}".encode() for i in range(count)}


def start(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_what_was_put_is_got_again_by_another_cache_of_the_same_name(tmp_path):
    Cache("c", tmp_path).put(entries("x"))
    again = Cache("c", tmp_path)
    assert again.get(entries("x")) == entries("x")
    assert again.problem is None


def test_a_missing_key_is_simply_absent(tmp_path):
    cache = Cache("c", tmp_path)
    cache.put({b"known": b"value"})
    assert cache.get([b"known", b"unknown", b"known"]) == {b"known": b"value"}
    assert cache.get([]) == {}


def test_more_keys_than_one_query_takes_are_all_found(tmp_path):
    cache = Cache("c", tmp_path)
    cache.put(entries("x", 1203))
    assert cache.get(entries("x", 1300)) == entries("x", 1203)


def test_a_later_value_replaces_the_earlier_one(tmp_path):
    cache = Cache("c", tmp_path)
    cache.put({b"k": b"old"})
    cache.put({b"k": b"new"})
    assert cache.get([b"k"]) == {b"k": b"new"}


def test_names_and_folders_keep_caches_apart(tmp_path):
    Cache("one", tmp_path).put({b"k": b"v"})
    assert Cache("two", tmp_path).get([b"k"]) == {}
    assert Cache("one", tmp_path / "other").get([b"k"]) == {}


def test_a_batch_that_cannot_be_stored_whole_is_not_stored_at_all(tmp_path):
    cache = Cache("c", tmp_path)
    cache.put({b"first": b"v", b"second": None})  # type: ignore[dict-item]
    assert cache.problem is not None
    assert Cache("c", tmp_path).get([b"first"]) == {}


WRITER = """
import sys
from pathlib import Path
from jointmatch.cache import Cache, key
print("ready", flush=True)
sys.stdin.readline()
cache = Cache("c", Path(sys.argv[1]))
for batch in range(15):
    cache.put({key(sys.argv[2], str(batch), str(i)): b"v" * 200 for i in range(20)})
    assert len(cache.get([key(sys.argv[2], str(batch), "0")])) == 1
print(cache.problem)
"""


def let_go(processes):
    """All at once, when all are ready."""
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()


def test_several_processes_may_write_and_read_at_once(tmp_path):
    processes = [start(WRITER, tmp_path, name) for name in "abcd"]
    let_go(processes)
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == ["None"] * 4
    wanted = [key(name, str(batch), str(i)) for name in "abcd" for batch in range(15) for i in range(20)]
    assert len(Cache("c", tmp_path).get(wanted)) == 4 * 15 * 20


KILLED = """
import sys, time
from pathlib import Path
from jointmatch.cache import Cache, key
cache = Cache("c", Path(sys.argv[1]))
for batch in range(3):
    cache.put({key(str(batch), str(i)): b"v" for i in range(10)})

def unfinished():
    for i in range(10):
        yield key("unfinished", str(i)), b"v"
    print("in the middle", flush=True)
    time.sleep(60)

class Batch:
    items = staticmethod(unfinished)

cache.put(Batch())
"""


def test_a_process_killed_in_the_middle_keeps_finished_batches_and_no_half_one(tmp_path):
    process = start(KILLED, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "in the middle\n"
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=10) == -signal.SIGKILL
    process.communicate()
    cache = Cache("c", tmp_path)
    finished = [key(str(batch), str(i)) for batch in range(3) for i in range(10)]
    assert len(cache.get(finished)) == 30
    assert cache.get([key("unfinished", str(i)) for i in range(10)]) == {}
    cache.put({b"after": b"v"})
    assert cache.get([b"after"]) == {b"after": b"v"}


def unusable(tmp_path, how: str) -> Path:
    if how == "a file stands where the folder should":
        (tmp_path / "file").write_text("")
        return tmp_path / "file" / "cache"
    (tmp_path / "c.sqlite").write_bytes(b"this is no database" * 100)
    return tmp_path


@pytest.mark.parametrize("how", ["a file stands where the folder should", "the file is no database"])
def test_a_place_that_cannot_be_used_turns_the_cache_off_and_says_why(tmp_path, how):
    cache = Cache("c", unusable(tmp_path, how))
    assert cache.problem is not None
    assert "c.sqlite cannot be used" in cache.problem
    cache.put({b"k": b"v"})
    assert cache.get([b"k"]) == {}


def test_a_folder_without_write_permission_turns_the_cache_off(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    cache = Cache("c", tmp_path)
    assert cache.problem is not None
    assert "Permission denied" in cache.problem
    assert cache.get([b"k"]) == {}


def test_a_disk_that_fills_up_turns_the_cache_off_and_goes_on(tmp_path, monkeypatch):
    cache = Cache("c", tmp_path)

    def full(self):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Cache, "_connect", full)
    cache.put({b"k": b"v"})
    assert cache.problem is not None
    assert "cannot be written (database or disk is full)" in cache.problem


def test_deleting_the_folder_while_in_use_is_safe(tmp_path):
    cache = Cache("c", tmp_path / "cache")
    cache.put({b"k": b"v"})
    shutil.rmtree(tmp_path / "cache")
    assert cache.get([b"k"]) == {}
    cache.put({b"k": b"v"})
    fresh = Cache("c", tmp_path / "cache")
    fresh.put({b"k": b"v"})
    assert fresh.get([b"k"]) == {b"k": b"v"}


def test_a_key_depends_on_every_part_and_on_where_each_one_ends():
    keys = [key("ab", "c"), key("a", "bc"), key("abc"), key("c", "ab"), key("ab", "c", "")]
    assert len(set(keys)) == 5
    assert {len(k) for k in keys} == {16}
    assert key("é") == key("é".encode())


def test_a_key_takes_any_text_even_half_a_surrogate_pair():
    assert key("\ud800") != key("\ud801")


@pytest.mark.parametrize(
    ("environment", "folder"),
    [({"JOINTMATCH_CACHE": "/named"}, "/named"), ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/jointmatch")],
)
def test_the_folder_is_the_named_one_else_the_user_s(monkeypatch, environment, folder):
    monkeypatch.delenv("JOINTMATCH_CACHE")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(folder)


def fill(cache: Cache, first: int, last: int, length: int = 1000) -> None:
    for start in range(first, last, 50):
        cache.put({key(str(i)): b"v" * length for i in range(start, min(start + 50, last))})


def held(cache: Cache, last: int = 2000) -> list[int]:
    found = cache.get([key(str(i)) for i in range(last)])
    return [i for i in range(last) if key(str(i)) in found]


def test_entries_are_counted_and_weighed(tmp_path):
    cache = Cache("c", tmp_path)
    assert cache.count() == 0
    fill(cache, 0, 500)
    assert cache.count() == 500
    assert 500_000 < cache.size() < 5_500_000  # the file and what is still in the log before it


def test_pruning_drops_those_written_first_and_gives_the_disk_its_room_back(tmp_path):
    cache = Cache("c", tmp_path)
    fill(cache, 0, 1000)
    dropped = cache.prune(500_000)
    assert cache.size() <= 500_000
    left = held(cache)
    assert left == list(range(dropped, 1000))
    assert 300 < len(left) < 500
    assert cache.prune(500_000) == 0


def test_an_entry_written_again_counts_as_new_and_the_order_outlives_pruning(tmp_path):
    cache = Cache("c", tmp_path)
    fill(cache, 0, 1000)
    fill(cache, 0, 50)
    cache.prune(800_000)
    fill(cache, 1000, 1100)
    cache.prune(250_000)
    left = held(cache)
    assert set(range(1000, 1100)) <= set(left)
    assert set(range(50)) <= set(left)
    assert not set(range(50, 900)) & set(left)


def test_pruning_to_nothing_leaves_a_cache_that_works(tmp_path):
    cache, other = Cache("c", tmp_path), Cache("c", tmp_path)
    fill(cache, 0, 100)
    assert cache.prune() == 100
    assert (cache.count(), cache.problem) == (0, None)
    other.put({b"k": b"v"})
    assert other.problem is None
    assert cache.get([b"k"]) == {b"k": b"v"}


def test_a_cache_from_before_there_were_limits_can_be_pruned(tmp_path):
    with sqlite3.connect(tmp_path / "c.sqlite") as db:
        db.execute("CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
        db.executemany("INSERT INTO entries VALUES (?, ?)", [(key(str(i)), b"v" * 1000) for i in range(500)])
    db.close()
    cache = Cache("c", tmp_path)
    assert cache.count() == 500
    cache.prune(100_000)
    assert held(cache)[-1] == 499
    assert cache.size() <= 100_000


def test_a_limit_is_kept_while_entries_come_in_and_the_newest_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTMATCH_CACHE_MAX", "300kB")
    cache = Cache("c", tmp_path)
    sizes = []
    for start in range(0, 2000, 50):
        fill(cache, start, start + 50)
        assert start + 49 in held(cache)
        sizes.append(cache.path.stat().st_size)
    assert cache.problem is None
    assert max(sizes) <= 300_000
    left = held(cache)
    assert left == list(range(left[0], 2000))
    assert len(left) >= 150


def test_a_limit_that_comes_later_cuts_a_large_file_down(tmp_path, monkeypatch):
    fill(Cache("c", tmp_path), 0, 1000)
    monkeypatch.setenv("JOINTMATCH_CACHE_MAX", "300kB")
    cache = Cache("c", tmp_path)
    fill(cache, 1000, 1050)
    assert cache.path.stat().st_size <= 300_000
    assert set(range(1000, 1050)) <= set(held(cache))


def test_a_batch_larger_than_the_limit_is_kept_for_the_run_that_made_it(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTMATCH_CACHE_MAX", "20kB")
    cache = Cache("c", tmp_path)
    fill(cache, 0, 50)
    fill(cache, 50, 100)
    assert held(cache) == list(range(50, 100))


def test_without_a_limit_nothing_is_dropped(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTMATCH_CACHE_MAX", "")
    cache = Cache("c", tmp_path)
    fill(cache, 0, 1000)
    assert cache.count() == 1000


def test_several_processes_may_write_under_a_limit_while_another_prunes(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTMATCH_CACHE_MAX", "40kB")
    writer = WRITER.replace('assert len(cache.get([key(sys.argv[2], str(batch), "0")])) == 1', "")
    processes = [start(writer, tmp_path, name) for name in "abc"]
    let_go(processes)
    pruner = Cache("c", tmp_path)
    while any(process.poll() is None for process in processes):
        pruner.prune(10_000)
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == ["None"] * 3
    assert pruner.problem is None
    assert sqlite3.connect(tmp_path / "c.sqlite").execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_counting_or_pruning_what_has_gone_is_no_error(tmp_path):
    cache = Cache("c", tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache")
    assert cache.count() == 0
    assert cache.prune() == 0
    assert cache.size() == 0


def test_what_is_remembered_is_not_looked_up_again(tmp_path):
    cache = Cache("c", tmp_path)
    cache.put(entries("before"))
    cache.remember()
    cache.put(entries("x"))
    assert cache.get(entries("before")) == entries("before")  # found once
    Cache("c", tmp_path).path.unlink()
    assert cache.get(entries("x") | entries("before")) == entries("x") | entries("before")
    assert Cache("c", tmp_path).get(entries("x")) == {}


def test_only_so_much_is_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr("jointmatch.cache._REMEMBERED", 9)
    cache = Cache("c", tmp_path)
    cache.remember()
    cache.put(entries("x"))  # three bytes each
    cache.put(entries("x"))  # once more, which takes no room
    cache.path.unlink()
    cache.problem = "it is gone"
    assert cache.get(entries("x")) == dict(list(entries("x").items())[:3])
