"""An on-disk table from a key (content, settings, version) to bytes; safe to delete at any time.

SQLite gives what a cache of expensive results needs: each batch is stored whole or not at
all, several processes may read and write at once, and a killed run keeps what it finished.
"""

from __future__ import annotations

import hashlib
import math
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path

from jointmatch.sizes import read_size

LIMIT = "JOINTMATCH_CACHE_MAX"
_LOOKUP = 500  # keys per query, under SQLite's limit on parameters
_ATTEMPTS = 200
_ROOM = 0.9  # share of the limit a full cache is cut down to, so that not every batch has to make room
_REMEMBERED = 2**30  # bytes
_ROW = 40  # approximate bytes per entry besides key and value: the index holds key and row number once more


def cache_folder() -> Path:
    """``JOINTMATCH_CACHE``, else ``jointmatch`` in the user's cache folder."""
    named = os.environ.get("JOINTMATCH_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jointmatch"


def key(*parts: str | bytes) -> bytes:
    """Hash the parts and their boundaries into a 16-byte key."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


class Cache:
    """A named cache. A folder that cannot be written to turns it off; ``problem`` says why.

    The environment variable ``JOINTMATCH_CACHE_MAX`` limits the size of each cache; the oldest entries make room.
    """

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.name = name
        self.path = (folder or cache_folder()) / f"{name}.sqlite"
        self.problem: str | None = None
        self._kept: dict[bytes, bytes] | None = None  # in memory
        self._room = _REMEMBERED
        self.damaged = False  # the file itself is corrupt, and the only remedy is to delete it
        limit = os.environ.get(LIMIT)
        self.limit = read_size(limit, f"The environment variable {LIMIT}") if limit else None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._create()
        except (OSError, sqlite3.Error) as error:
            self._give_up("used", error)

    def _create(self) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                with closing(self._connect()) as db, db:
                    # Write-ahead logging, which the file remembers, lets readers continue while another process writes.
                    db.execute("PRAGMA journal_mode=WAL")
                    db.execute("CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
                return
            except sqlite3.OperationalError as error:
                # Several processes may create it at once; changing the journal does not wait for a lock.
                if "locked" not in str(error) or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.05)

    def remember(self) -> None:
        """From now on also keep stored and found entries in memory, up to a limit: they will be asked for again."""
        self._kept = {} if self._kept is None else self._kept

    def _keep(self, entries: Mapping[bytes, bytes]) -> None:
        if self._kept is None:
            return
        for k, value in entries.items():
            if k not in self._kept and len(value) <= self._room:
                self._kept[k] = value
                self._room -= len(value)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the entries found; a missing key is simply absent."""
        kept = self._kept or {}
        wanted = dict.fromkeys(keys)
        found = {k: kept[k] for k in wanted if k in kept}
        on_disk = self._on_disk([k for k in wanted if k not in kept])
        self._keep(on_disk)
        return found | on_disk

    def _on_disk(self, wanted: list[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        if self.problem or not wanted:
            return found
        try:
            with closing(self._connect()) as db:
                for start in range(0, len(wanted), _LOOKUP):
                    part = wanted[start : start + _LOOKUP]
                    marks = ",".join("?" * len(part))
                    found.update(db.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", part))
        except sqlite3.Error as error:
            self._give_up("read", error)
        return found

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store a batch, whole or not at all, dropping the oldest entries if it would exceed the limit."""
        self._keep(entries)
        if self.problem:
            return
        try:
            with closing(self._connect()) as db, db:
                if self.limit is not None:
                    _make_room(db, self.limit, sum(len(k) + len(v) + _ROW for k, v in entries.items()))
                db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", entries.items())
        except sqlite3.Error as error:
            self._give_up("written", error)

    def count(self) -> int:
        """Return the number of entries."""
        if self.problem:
            return 0
        try:
            with closing(self._connect()) as db:
                return int(db.execute("SELECT count(*) FROM entries").fetchone()[0])
        except sqlite3.Error as error:
            self._give_up("read", error)
            return 0

    def size(self) -> int:
        """Return the bytes on disk, including recent writes that are not yet in the file itself."""
        files = (self.path.with_name(self.path.name + end) for end in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def prune(self, max_bytes: int = 0) -> int:
        """Drop the oldest entries until the file is no larger than ``max_bytes``; return how many were dropped.

        The file stays, so that a process using it can go on.
        """
        dropped = 0
        if self.problem:
            return dropped
        try:
            with closing(self._connect()) as db:
                while some := _drop_oldest(db, max_bytes):
                    dropped += some
                _shrink(db)
        except sqlite3.Error as error:
            self._give_up("pruned", error)
        return dropped

    def _give_up(self, done: str, error: Exception) -> None:
        # Other SQLite errors, such as a locked or read-only file, have classes of their own.
        self.damaged = type(error) is sqlite3.DatabaseError
        remedy = f"; to start it anew: jointmatch cache {self.name} --prune" if self.damaged else ""
        self.problem = f"the cache {self.path} cannot be {done} ({error}){remedy}"

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=60)
        db.execute("PRAGMA synchronous=NORMAL")
        return db


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def _used(db: sqlite3.Connection) -> int:
    """Return the bytes in use: without the pages freed by dropped entries, which new ones fill again."""
    return (_pragma(db, "page_count") - _pragma(db, "freelist_count")) * _pragma(db, "page_size")


def _make_room(db: sqlite3.Connection, limit: int, incoming: int) -> None:
    """Drop the oldest entries if ``incoming`` bytes would exceed the limit."""
    if _used(db) + incoming <= limit:
        return
    while _drop_oldest(db, max(int(_ROOM * limit) - incoming, 0)):
        pass
    if _pragma(db, "page_count") * _pragma(db, "page_size") > limit:
        _shrink(db)  # it grew while there was no limit


def _drop_oldest(db: sqlite3.Connection, max_bytes: int) -> int:
    """Drop the oldest entries until about ``max_bytes`` are used; return how many were dropped."""
    with db:
        db.execute("BEGIN IMMEDIATE")  # so that the counts still hold when entries are dropped
        used, (count,) = _used(db), db.execute("SELECT count(*) FROM entries").fetchone()
        surplus = math.ceil(count * (1 - max_bytes / used)) if used > max_bytes else 0
        # SQLite numbers rows as they are written, and renumbers a replaced row: row numbers are in order of time.
        rows = db.execute("SELECT rowid FROM entries ORDER BY rowid LIMIT 1 OFFSET ?", (surplus - 1,))
        last = rows.fetchone() if surplus else None
        return db.execute("DELETE FROM entries WHERE rowid <= ?", last).rowcount if last else 0


def _shrink(db: sqlite3.Connection) -> None:
    """Return free pages to the disk; if another process is writing, this may fail, which is harmless."""
    with suppress(sqlite3.OperationalError):
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
