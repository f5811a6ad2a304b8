"""A table on disk from a key (content, settings, version) to bytes; safe to delete at any time.

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
_ROOM = 0.9  # what a full cache is cut down to, so that not every batch has to make room
_REMEMBERED = 2**30  # bytes
_ROW = 40  # about what SQLite needs for an entry besides key and value: key and row number once more, in the index


def cache_folder() -> Path:
    """``JOINTMATCH_CACHE``, else ``jointmatch`` in the user's cache folder."""
    named = os.environ.get("JOINTMATCH_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jointmatch"


def key(*parts: str | bytes) -> bytes:
    """A 16-byte key of the parts and of where each one ends."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


class Cache:
    """One named cache. A folder that cannot be written turns it off; ``problem`` says why.

    The environment variable ``JOINTMATCH_CACHE_MAX`` limits what each cache holds; the oldest entries make room.
    """

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.name = name
        self.path = (folder or cache_folder()) / f"{name}.sqlite"
        self.problem: str | None = None
        self._kept: dict[bytes, bytes] | None = None  # in memory
        self._room = _REMEMBERED
        self.damaged = False  # the file itself is at fault, and nothing else helps than to delete it
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
                    # Write-ahead logging, which the file remembers, lets readers go on while another process writes.
                    db.execute("PRAGMA journal_mode=WAL")
                    db.execute("CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
                return
            except sqlite3.OperationalError as error:
                # Several processes may create it at once; changing the journal does not wait for a lock.
                if "locked" not in str(error) or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.05)

    def remember(self) -> None:
        """From now on have what was stored or found in memory too, up to a limit: it will be asked for again."""
        self._kept = {} if self._kept is None else self._kept

    def _keep(self, entries: Mapping[bytes, bytes]) -> None:
        if self._kept is None:
            return
        for k, value in entries.items():
            if k not in self._kept and len(value) <= self._room:
                self._kept[k] = value
                self._room -= len(value)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The entries there are; a missing key is simply absent."""
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
        """Store a batch, whole or not at all, and drop the oldest entries where there is a limit."""
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
        """How many entries there are."""
        if self.problem:
            return 0
        try:
            with closing(self._connect()) as db:
                return int(db.execute("SELECT count(*) FROM entries").fetchone()[0])
        except sqlite3.Error as error:
            self._give_up("read", error)
            return 0

    def size(self) -> int:
        """Bytes on disk, with what was written last and is not yet in the file itself."""
        files = (self.path.with_name(self.path.name + end) for end in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def prune(self, max_bytes: int = 0) -> int:
        """Drop the entries written first until the file is no larger than this; how many were dropped.

        The file stays, so that a process that uses it goes on.
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
        # SQLite's other errors, such as a file that is locked or may not be written, are of classes of their own.
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
    """Bytes of the file less the pages that dropped entries left, which new ones fill again."""
    return (_pragma(db, "page_count") - _pragma(db, "freelist_count")) * _pragma(db, "page_size")


def _make_room(db: sqlite3.Connection, limit: int, incoming: int) -> None:
    """Drop the oldest entries where ``incoming`` bytes would go over the limit."""
    if _used(db) + incoming <= limit:
        return
    while _drop_oldest(db, max(int(_ROOM * limit) - incoming, 0)):
        pass
    if _pragma(db, "page_count") * _pragma(db, "page_size") > limit:
        _shrink(db)  # it grew while there was no limit


def _drop_oldest(db: sqlite3.Connection, max_bytes: int) -> int:
    """Drop entries, those written first, until about so many bytes are used; how many were dropped."""
    with db:
        db.execute("BEGIN IMMEDIATE")  # what is counted is still so when it is dropped
        used, (count,) = _used(db), db.execute("SELECT count(*) FROM entries").fetchone()
        surplus = math.ceil(count * (1 - max_bytes / used)) if used > max_bytes else 0
        # SQLite numbers rows as they are written, and a replaced row anew: the order of the numbers is that of time.
        rows = db.execute("SELECT rowid FROM entries ORDER BY rowid LIMIT 1 OFFSET ?", (surplus - 1,))
        last = rows.fetchone() if surplus else None
        return db.execute("DELETE FROM entries WHERE rowid <= ?", last).rowcount if last else 0


def _shrink(db: sqlite3.Connection) -> None:
    """Give free pages back to the disk; another process that is writing may keep us from it, and that is all right."""
    with suppress(sqlite3.OperationalError):
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
