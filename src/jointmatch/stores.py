"""List the contents of the cache folder and free space in it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from jointmatch.cache import Cache, cache_folder
from jointmatch.errors import UnknownNameError, did_you_mean


@dataclass(frozen=True)
class Store:
    """One file in the cache folder."""

    name: str
    path: Path
    entries: int | None  # None if the file has no separate entries
    bytes: int
    problem: str | None = None  # why it cannot be read


def stores(name: str | None = None) -> list[Store]:
    """List our files in the cache folder, or those of one name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    folder = cache_folder().absolute()
    found = [_of_cache(path) for path in sorted(folder.glob("*.sqlite")) if _is_ours(path)]
    found += [Store("wordnet", path, None, path.stat().st_size) for path in sorted(folder.glob("wordnet-*.json"))]
    if name is None:
        return found
    names = dict.fromkeys(store.name for store in found)
    if name not in names:
        known = f"There are: {', '.join(names)}." if names else "There is nothing there."
        raise UnknownNameError(f"No cache {name!r} in {folder}.{did_you_mean(name, names)} {known}")
    return [store for store in found if store.name == name]


def prune(store: Store, max_bytes: int = 0) -> Store | None:
    """Cut a store down to ``max_bytes``, dropping the oldest entries first; return what is left of it, if anything.

    A file without separate entries is deleted whole, and so is one that cannot be read. A cache is emptied but
    not deleted: another process may be writing to it.
    """
    if store.entries is not None:
        cache = Cache(store.name, store.path.parent)
        cache.prune(max_bytes)
        if not cache.damaged:
            return _of_cache(store.path)
    elif store.bytes <= max_bytes:
        return store
    for end in ("", "-wal", "-shm"):  # the files SQLite keeps beside this one belong to it alone
        store.path.with_name(store.path.name + end).unlink(missing_ok=True)
    return None


def _of_cache(path: Path) -> Store:
    cache = Cache(path.stem, path.parent)
    entries = cache.count()
    return Store(path.stem, path, None if cache.problem else entries, cache.size(), cache.problem)


def _is_ours(path: Path) -> bool:
    """Whether a file is a cache, or was one before it broke; other programs' databases are left alone."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=60)) as db:
            return db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'entries'").fetchone()[0] == 1
    except sqlite3.Error:
        return True
