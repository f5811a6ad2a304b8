"""The thesaurus on disk: built from WordNet once, then quick to load."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from jointmatch.augment.wordnet.closeness import Closeness
from jointmatch.augment.wordnet.source import GET_IT, VARIABLE, Source, find
from jointmatch.augment.wordnet.thesaurus import Thesaurus, build
from jointmatch.cache import cache_folder, key
from jointmatch.errors import DataError
from jointmatch.files import write_text

FORMAT = 4  # raise when building from the same files gives another thesaurus


def load() -> Thesaurus:
    """Return the thesaurus of the WordNet on this machine.

    Raises:
        MissingExtraError: There is no WordNet; the message says how to get it.
    """
    return _load(find(), cache_folder())


@lru_cache(maxsize=2)
def _load(source: Source, folder: Path) -> Thesaurus:
    texts = source.read()
    closeness = Closeness.shipped()
    parts = (part for name in sorted(texts) for part in (name, texts[name]))
    path = folder / f"wordnet-{key(str(FORMAT), closeness.text, *parts).hex()}.json"
    stored = _stored(path)
    if stored is not None:
        return stored
    try:
        thesaurus = build(texts, closeness)
    except (ValueError, KeyError, IndexError) as error:
        raise DataError(
            f"The WordNet files in {source.path} cannot be read ({error!r}). Wanted those of WordNet 3.0: "
            f"name their folder in {VARIABLE}, or run: {GET_IT}"
        ) from error
    fields = vars(thesaurus) | {"compounds": sorted(thesaurus.compounds)}
    # Digest what was built, not the files: Debian's differ from the others in byte offsets alone, and the drawing of
    # views depends on this digest.
    thesaurus.digest = fields["digest"] = key(json.dumps(fields, sort_keys=True)).hex()
    with suppress(OSError):  # a folder that cannot be written to only costs the next process some seconds
        write_text(path, json.dumps(fields, separators=(",", ":")))
    return thesaurus


def _stored(path: Path) -> Thesaurus | None:
    try:
        fields = json.loads(path.read_bytes())
        return Thesaurus(**fields | {"compounds": set(fields["compounds"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
