"""What a command refuses before it reads anything."""

from __future__ import annotations

from pathlib import Path

from jointmatch.errors import InputError


def refuse_pipe(*files: str | Path | None) -> None:
    """A dash is no file, and only ``predict`` goes through its input once, as a pipe has it."""
    if "-" in map(str, files):
        raise InputError(
            "Got - for a pipe, which only 'jointmatch predict' reads. Wanted a file: save the rows as CSV first, say."
        )


def check_one_of(resume: bool, overwrite: bool) -> None:
    """A run is gone on with or replaced, not both."""
    if resume and overwrite:
        raise InputError(
            "Got --resume and --overwrite: one goes on with the run in --output, the other replaces it. "
            "Give one of the two."
        )
