"""File sizes as people write them."""

from __future__ import annotations

import re

from jointmatch.errors import InputError

_LETTERS = "KMGT"
_UNITS = {"B": 1} | {
    unit: base**power
    for power, letter in enumerate(_LETTERS, start=1)
    for unit, base in ((letter, 1000), (f"{letter}B", 1000), (f"{letter}IB", 1024))
}


def read_size(text: str, where: str) -> int:
    """Parse ``2GB``, ``500 MB``, ``1.5GiB`` or 0 into bytes; any other number needs a unit.

    Raises:
        InputError: It is none of these; the message says ``where`` it was given.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Z]*)", text.strip().upper())
    if found and float(found[1]) == 0 and not found[2]:
        return 0
    if found is None or found[2] not in _UNITS:
        raise InputError(f"{where} is {text!r}, wanted a size such as 500MB or 2GB.")
    return int(float(found[1]) * _UNITS[found[2]])


def size_in_words(size: int) -> str:
    """Format a size, such as ``1.5 GB``."""
    value, unit = float(size), "B"
    for letter in _LETTERS:
        if value < 999.95:
            break
        value, unit = value / 1000, f"{letter}B".replace("K", "k")
    return f"{value:.1f} {unit}" if unit != "B" else f"{size} B"
