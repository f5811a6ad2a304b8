"""English function words that help to recognise names, subjects and negations."""

from __future__ import annotations


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


SUBJECTS = _words("i he she it we you they")
OBJECTS = _words("me him her it us you them")
OWNERS = _words("my his her its our your their")
NEGATIONS = _words("no not none nobody nothing never nowhere neither nor without cannot")

# A capitalised word before one of these is a subject and, at the start of a sentence, perhaps a name.
AFTER_A_SUBJECT = _words(
    "said says say will would is was are were has have had can could may might must told wants and of"
)
NEVER_A_NAME = SUBJECTS | OWNERS | NEGATIONS | _words(
    """there this that these those what who which where when why how here all some many most few one both each any
    everything everyone someone anyone everybody something anything the a an and or but so if as at in on by to for
    from of with yes"""
)  # fmt: skip
