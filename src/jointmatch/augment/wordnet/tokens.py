"""The words of a text, each apart from its punctuation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile("""^([("'\u201c\u2018\\[*_]*)([A-Za-z]+)((?:['\u2019]s)?[^\\w@#&/\\\\]*)$""")


@dataclass(slots=True)
class Token:
    """One word of a text; no synonyms where it is better left alone."""

    lead: str
    core: str  # the word, empty where this is a number, an address or the like
    tail: str
    low: str
    synonyms: dict[str, float] = field(default_factory=dict)  # inflected -> weight
    level: int = 0  # of the synonyms; 0 for the strictest

    @classmethod
    def of(cls, unit: str) -> Token:
        """The token of what stands between two spaces."""
        match = _TOKEN.match(unit)
        if match is None:
            return cls(unit, "", "", unit.lower().strip(".,;:!?\"'()").replace("\u2019", "'"))
        lead, core, tail = match.groups()
        return cls(lead, core, tail, core.lower())

    def with_core(self, core: str) -> str:
        """The token with another word in it."""
        return self.lead + core + self.tail
