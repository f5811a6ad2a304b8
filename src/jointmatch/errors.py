"""Every error the package raises on purpose, and the hint that goes with a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class JointMatchError(Exception):
    """Base class: catch this to catch them all."""


class InputError(JointMatchError, ValueError):
    """The user's input is at fault; the message says what was given, what was wanted and what to do."""


class DataError(InputError):
    """A file, a column, a row or a label cannot be used."""


class ConfigError(InputError):
    """One or more settings are wrong; all of them are listed in one message."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = list(faults)
        count = len(self.faults)
        head = "1 setting is wrong" if count == 1 else f"{count} settings are wrong"
        super().__init__("\n".join([f"{head}:", *(f"  - {fault}" for fault in self.faults)]))

    def __reduce__(self) -> tuple[type[ConfigError], tuple[list[str]]]:
        return type(self), (self.faults,)  # worker processes pickle it; rebuild it from the faults


class OutputError(InputError):
    """The output folder is in use or cannot be written."""


class UnknownNameError(InputError, KeyError):
    """A name that no registry entry, backbone or data set has."""

    __str__ = Exception.__str__  # KeyError would print the repr


class PluginError(InputError):
    """Two packages provide the same name; the message names both."""


class MissingExtraError(InputError, ImportError):
    """An optional package is not installed; the message has the install command."""


class TrainingError(JointMatchError):
    """Training could not go on (a loss that is not a number, no memory left)."""


class Interrupted(JointMatchError):
    """Training was stopped from outside and left a checkpoint to resume from."""


def shortened(text: str) -> str:
    """Shorten a text that may be too long for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the nearest known name, or nothing."""
    by_lower = {str(k).lower(): str(k) for k in known}
    near = [] if name in by_lower.values() else get_close_matches(name.lower(), by_lower, n=1)
    return f" Did you mean {by_lower[near[0]]!r}?" if near else ""
