"""How good a synonym has to be: few words can be replaced well, more words less well."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """What makes a synonym good enough.

    Attributes:
        good: The least strength.
        far: The closeness of words that have nothing to do with each other.
        familiar: A synonym seen this often needs no further sign of being a common word.
        kin: The weight of a word one step wider or narrower, relative to a synonym.
        sure: The least share of the form's readings in which the synonym can replace it.
        bold: Whether verbs are replaced before "to" or "that", and by forms that occur in no definition.
    """

    good: float
    far: float
    familiar: int
    kin: float
    sure: float
    bold: bool


# Words of a text are replaced from the first level before any are replaced from the next.
LEVELS = (
    Level(good=0.04, far=0.25, familiar=40, kin=0.0, sure=0.6, bold=False),
    Level(good=0.06, far=0.10, familiar=15, kin=0.5, sure=0.6, bold=True),
    Level(good=0.0225, far=0.10, familiar=15, kin=0.5, sure=0.6, bold=True),
)
