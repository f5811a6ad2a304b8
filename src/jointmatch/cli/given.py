"""Input that a command refuses before it reads anything."""

from __future__ import annotations

from pathlib import Path

from jointmatch.errors import InputError


def refuse_pipe(*files: str | Path | None) -> None:
    """Refuse ``-`` as a file: only ``predict`` reads its input in a single pass, as a pipe requires."""
    if "-" in map(str, files):
        raise InputError(
            "Got - for a pipe, which only 'jointmatch predict' reads. Wanted a file: save the rows as CSV first, say."
        )


def check_one_of(resume: bool, overwrite: bool) -> None:
    """Refuse to both resume and replace a run."""
    if resume and overwrite:
        raise InputError(
            "Got --resume and --overwrite: one goes on with the run in --output, the other replaces it. "
            "Give one of the two."
        )
