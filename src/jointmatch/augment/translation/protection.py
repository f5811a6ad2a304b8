"""Protect names, addresses, hashtags, markup and symbols from an engine, and restore them in its output.

Anything an engine would garble ("President Bush" comes back as "shrub of president") is replaced by a word that is in
no dictionary; symbols are replaced by blanks that the engine carries along. Only plain words, numbers and everyday
punctuation are translated, which also keeps characters with a special meaning out of Apertium's stream.
"""

from __future__ import annotations

import re

from jointmatch.augment.translation.grammar import AFTER_A_SUBJECT, NEVER_A_NAME

_FOREIGN = "[\u0370-\u1dff\u2c80-\ud7ff\uf900-\ufdff\ufe70-\uffef]"  # letters and vowel signs of other scripts
_TOKEN = re.compile(
    rf"""
      (?P<opaque> \S{{0,50}}{_FOREIGN}\S* | https?://\S+ | www\.\S+ | [\w.+-]{{1,64}}@[\w-]+(?:\.[\w-]+)+ | [@\#]\w+
                | \[\w+\] | (?:[^\W\d_]\.){{2,}} | (?:[^\W\d_]{{0,3}}\\?[$€£¥])?\d+(?:[.,:/-]\w+)*[%\w]* )
    | (?P<word> [^\W_][\w\u0300-\u036f]* (?: (?:['._/-]|&(?!\w+;)) [^\W_]+ )* )
    | (?P<symbol> </?[a-zA-Z][^<>]*> | &lt;/?[a-zA-Z][^&]*&gt; | &\#?\w+; | (?<=[.!?])[.!?]+ | --+
                | ' | [^\w\s<&.,;:!?"'()-]+ )
    | (?P<mark> [.,;:!?"()-] )
    | (?P<space> \s+ )
    | (?P<rest> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = re.compile(r"[a-z\u00e0-\u00ff]+(?:'(?:s|t|re|ve|ll|d|m))?|\d+(?:[.,:]\d+)*", re.I)
_ENTITY_APOSTROPHE = re.compile(r"\s?(?:&\#39;|&apos;|\#39;)(?=s\b|t\b|re\b|ve\b|ll\b|d\b|m\b)|&\#39;|&apos;|\#39;")
STAND_IN = re.compile(r"xq(\d+)x|\[q(\d+)\]", re.IGNORECASE)
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_STAYS = frozenset(("let's", "lets"))  # these come back as "left is"


class Protected:
    """A text in the form that an engine may see, and what its stand-ins stand for."""

    def __init__(self, text: str) -> None:
        self.originals: list[str] = []
        self.text = _ENTITY_APOSTROPHE.sub("'", text.translate(_QUOTES))
        self.stream = self._stream(self.text)

    @property
    def translatable(self) -> bool:
        """Whether any word is left for the engine."""
        return bool(re.search(r"[^\W\d_]", STAND_IN.sub("", self.stream)))

    def word(self, original: str) -> str:
        """Return a word that is in no dictionary, as a stand-in for ``original``."""
        self.originals.append(original)
        return f"Xq{len(self.originals) - 1}x"

    def blank(self, original: str) -> str:
        """Return a blank that the engine carries along, as a stand-in for ``original``."""
        self.originals.append(original)
        return f"[q{len(self.originals) - 1}]"

    def restore(self, stream: str) -> str | None:
        """Put the originals back; return None if one is missing or appears twice."""
        found = [int(word or blank) for word, blank in STAND_IN.findall(stream)]
        if sorted(found) != list(range(len(self.originals))):
            return None
        return STAND_IN.sub(lambda match: self.originals[int(match[1] or match[2])], stream)

    def _stream(self, text: str) -> str:
        tokens = [(str(match.lastgroup), match[0]) for match in _TOKEN.finditer(text)]
        names = _names(tokens)
        kept = [
            kind in ("word", "opaque") and (i in names or not _PLAIN.fullmatch(t) or t.lower() in _STAYS)
            for i, (kind, t) in enumerate(tokens)
        ]
        pieces: list[str] = []
        run = ""  # adjacent protected tokens share one stand-in
        for i, (kind, piece) in enumerate(tokens):
            if kept[i] or (run and piece == " " and any(kept[i + 1 : i + 2])):
                run += piece
                continue
            if run:
                pieces.append(self.word(run))
                run = ""
            pieces.append(
                " " if kind == "space" else piece if kind in ("word", "opaque", "mark") else self.blank(piece)
            )
        if run:
            pieces.append(self.word(run))
        return "".join(pieces).strip()


def _names(tokens: list[tuple[str, str]]) -> set[int]:
    """Return positions of capitalised words that are likely names, not just the start of a sentence."""
    words = [i for i, (kind, _) in enumerate(tokens) if kind == "word"]
    capital = [i for i in words if tokens[i][1][0].isupper()]
    if 5 * len(capital) > 3 * len(words) > 9:
        return set()  # a headline or all capitals: these say nothing about names
    acronyms = {i for i in capital if len(tokens[i][1]) > 1 and tokens[i][1].isupper()}
    capital = [i for i in capital if tokens[i][1].split("'")[0].lower() not in NEVER_A_NAME]
    starts = _sentence_starts(tokens)
    sure = acronyms | {i for i in capital if i not in starts}
    known = {tokens[i][1] for i in sure}

    def named(i: int) -> bool:
        beside = tokens[i + 2][1] if tokens[i + 1 : i + 2] == [("space", " ")] and i + 2 < len(tokens) else ""
        return tokens[i][1] in known or i + 2 in sure or beside in AFTER_A_SUBJECT

    return sure | {i for i in capital if i in starts and named(i)}


def _sentence_starts(tokens: list[tuple[str, str]]) -> set[int]:
    starts, at_start = set(), True
    for i, (kind, piece) in enumerate(tokens):
        if kind in ("word", "opaque"):
            if at_start:
                starts.add(i)
            at_start = False
        elif (kind in ("symbol", "rest") and piece != "'") or (kind == "mark" and piece not in ",;") or "\n" in piece:
            at_start = True
    return starts
