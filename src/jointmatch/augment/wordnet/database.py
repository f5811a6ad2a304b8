"""Parse WordNet's files into synsets, senses and word forms."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

POS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_SENSE_POS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
_MARKED = re.compile(
    r"\([^)]*\b(archaic|obsolete|slang|informal|nonstandard|offensive|disparaging|derogatory|vulgar|obscene|dialect|"
    r"Scottish|British|Scots|poetic|literary|ethnic|trademark|old-fashioned|taboo|usually plural)\b"
    r"|\b(slang|informal|offensive|disparaging|derogatory)( or \w+)? (term|word|name|expression|synonym)s?\b"
)
_WORD = re.compile(r"[a-z]{3,}")
_UNSEEN = 0.7  # the count of a sense that was never tagged

Senses = dict[tuple[str, str], dict[str, tuple[float, float]]]  # (lemma, pos) -> offset -> (count, share)
Counts = Mapping[tuple[str, str], Mapping[int, int]]  # (lemma, pos) -> number of the sense -> times tagged


@dataclass
class Synset:
    """Words of one meaning, as written, and those among them that some readers would not regard as plain English."""

    words: list[str]
    positions: list[str]  # where an adjective may stand, "" for anywhere
    marked: set[str]
    similar: list[str]  # offsets of the wider adjectives that can stand for these
    kin: list[str]  # offsets of synsets one step wider or narrower


def synsets(text: str, glosses: Counter[str]) -> Iterator[tuple[str, Synset]]:
    """Yield offset and synset of each line of a data file; add the words of the definitions to ``glosses``."""
    for line in text.splitlines():
        if line.startswith(" "):
            continue  # the licence
        head, _, gloss = line.partition("|")
        fields = head.split()
        size = int(fields[3], 16)
        raw = fields[4 : 4 + 2 * size : 2]
        words = [word.partition("(")[0] for word in raw]
        positions = [word.partition("(")[2] for word in raw]
        marked = set(words) if _MARKED.search(gloss.partition('"')[0]) else set()
        similar, kin = [], []
        pointers = fields[5 + 2 * size :]
        for i in range(int(fields[4 + 2 * size])):
            symbol, target, _, ends = pointers[4 * i : 4 * i + 4]
            if symbol in (";u", ";r"):  # slang, archaisms, regions
                source = int(ends[:2], 16)
                marked.update([words[source - 1]] if source else words)
            elif symbol == "&" and fields[2] == "s":  # from huge to big, but not from big to all words similar to it
                similar.append(target)
            elif symbol in ("@", "~", "&"):
                kin.append(target)
        glosses.update(_WORD.findall(gloss.lower()))
        yield fields[0], Synset(words, positions, marked, similar, kin)


def tag_counts(text: str) -> Counts:
    """Return how often each sense was tagged."""
    counts: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for line in text.splitlines():
        sense, number, count = line.split()
        lemma, _, rest = sense.partition("%")
        counts[lemma, _SENSE_POS[rest[0]]][int(number)] = int(count)
    return counts


def exceptions(text: str) -> dict[str, list[str]]:
    """Return irregular form -> its lemmas."""
    table: dict[str, list[str]] = {}
    for line in text.splitlines():
        form, *lemmas = line.split()
        if "_" not in form:
            table.setdefault(form, []).extend(lemmas)
    return table


def compounds(text: str) -> Iterator[str]:
    """Yield the lemmas of two or three words in an index file."""
    for line in text.splitlines():
        lemma = line.partition(" ")[0]
        if 0 < lemma.count("_") < 3:
            yield lemma.replace("_", " ")


def senses(text: str, pos: str, meanings: Mapping[str, Synset], counts: Counts) -> Senses:
    """Return the senses of each one-word lemma of an index file, with their count and share of its uses."""
    found: Senses = {}
    for line in text.splitlines():
        lemma, *fields = line.split()
        if line.startswith(" ") or not (lemma.isalpha() and lemma.isascii()):
            continue
        tagged = counts.get((lemma, pos), {})
        size = int(fields[1])
        # China and china are two words with one lemma; only the lower-case one is wanted here.
        # The order of senses that were never tagged means nothing, so they get equal shares.
        weights = {
            offset: tagged.get(number, 0) + _UNSEEN
            for number, offset in enumerate(fields[-size:], 1)
            if lemma in meanings[offset].words
        }
        total = sum(weights.values())
        if weights:
            found[lemma, pos] = {offset: (weight, weight / total) for offset, weight in weights.items()}
    return found
