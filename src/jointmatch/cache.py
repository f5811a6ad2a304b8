"""A table on disk from a key (content, settings, version) to bytes; safe to delete at any time.

SQLite gives what a cache of expensive results needs: each batch is stored whole or not at
all, several processes may read and write at once, and a killed run keeps what it finished.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

_LOOKUP = 500  # keys per query, under SQLite's limit on parameters
_ATTEMPTS = 200


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
    """One named cache. A folder that cannot be written turns it off; ``problem`` says why."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder()) / f"{name}.sqlite"
        self.problem: str | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._create()
        except (OSError, sqlite3.Error) as error:
            self.problem = f"the cache {self.path} cannot be used ({error})"

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

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The entries there are; a missing key is simply absent."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, bytes] = {}
        if self.problem:
            return found
        try:
            with closing(self._connect()) as db:
                for start in range(0, len(wanted), _LOOKUP):
                    part = wanted[start : start + _LOOKUP]
                    marks = ",".join("?" * len(part))
                    found.update(db.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", part))
        except sqlite3.Error as error:
            self.problem = f"the cache {self.path} cannot be read ({error})"
        return found

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store a batch, whole or not at all."""
        if self.problem:
            return
        try:
            with closing(self._connect()) as db, db:
                db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", entries.items())
        except sqlite3.Error as error:
            self.problem = f"the cache {self.path} cannot be written ({error})"

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=60)
        db.execute("PRAGMA synchronous=NORMAL")
        return db
