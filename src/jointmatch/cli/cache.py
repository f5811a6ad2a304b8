"""``jointmatch cache``: show what is kept on disk and free space."""

from __future__ import annotations

from typing import Annotated

import typer

from jointmatch.cli.options import Json


def cache(
    name: Annotated[str | None, typer.Argument(help="One cache, such as views. Default: all.")] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Empty it. Runs recompute what they need.")] = False,
    max_size: Annotated[
        str | None,
        typer.Option(
            help="Drop the oldest entries of each cache until it is no larger than this, such as 500MB or 2GB."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show what is cached on disk, empty it, or trim it to a size."""
    from jointmatch.cache import cache_folder
    from jointmatch.cli.output import print_json, say, table
    from jointmatch.errors import InputError
    from jointmatch.sizes import read_size, size_in_words
    from jointmatch.stores import prune as cut
    from jointmatch.stores import stores

    if prune and max_size is not None:
        raise InputError(
            "Got --prune and --max-size: one empties a cache, the other cuts it down. Give one of the two."
        )
    limit = 0 if prune else read_size(max_size, "--max-size") if max_size is not None else None
    found = stores(name)
    left = found if limit is None else [kept for store in found if (kept := cut(store, limit))]
    total, freed = sum(store.bytes for store in left), sum(s.bytes for s in found) - sum(s.bytes for s in left)
    if json:
        rows = [
            {"name": s.name, "entries": s.entries, "bytes": s.bytes, "path": str(s.path), "problem": s.problem}
            for s in left
        ]
        print_json({"folder": str(cache_folder()), "bytes": total, "freed": freed, "caches": rows})
        return
    if limit is not None:
        say(f"Freed {size_in_words(max(freed, 0))}.")
    if not left:
        say(f"Nothing is cached in {cache_folder()}.")
        return
    cells = [
        [s.name, "" if s.entries is None else f"{s.entries:,}", size_in_words(s.bytes), s.problem or str(s.path)]
        for s in left
    ]
    table(["name", "entries", "size", "path"], cells)
    say(f"{size_in_words(total)} in all. Safe to delete: jointmatch cache --prune [NAME], or --max-size 2GB.")
