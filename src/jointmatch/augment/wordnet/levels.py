"""How much is asked of a synonym: little is replaced well, more less well."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """What makes a synonym good enough.

    Attributes:
        good: The least strength.
        far: As close as this are words that have nothing to do with each other.
        familiar: A synonym seen this often needs no further sign of being a common word.
        kin: The part of a synonym's strength that a word one step wider or narrower has.
        sure: The least share of the form's readings in which the synonym can stand for it.
        bold: Whether verbs are replaced in front of "to" or "that", and by forms that no definition shows.
    """

    good: float
    far: float
    familiar: int
    kin: float
    sure: float
    bold: bool


# A text takes its words from the first level before it takes any from the next.
LEVELS = (
    Level(good=0.04, far=0.25, familiar=40, kin=0.0, sure=0.6, bold=False),
    Level(good=0.06, far=0.10, familiar=15, kin=0.5, sure=0.6, bold=True),
    Level(good=0.0225, far=0.10, familiar=15, kin=0.5, sure=0.6, bold=True),
)
