"""Options that several commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

TextColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of texts, if its name is not a common one.")
]
LabelColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of labels, if its name is not a common one.")
]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="Character encoding of the file.")]
Device = Annotated[str, typer.Option(metavar="NAME", help="auto, cpu, cuda or cuda:N.")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Folder with a folder for each data set, named like it: in that, pool, dev and test as .parquet, .csv, "
        ".tsv or .jsonl with columns text and label. Default: $JOINTMATCH_DATA.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show only errors, warnings and the result.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder, such as run/model.")]


def output_file(otherwise: str) -> Any:
    """Option for the file that rows are written to; ``otherwise`` says what happens without it."""
    told = f"File to write; its extension sets the format. {otherwise}"
    return typer.Option("--output", "-o", metavar="FILE", help=told)
