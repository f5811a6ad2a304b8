"""``jointmatch predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jointmatch.cli.options import Device, Encoding, ModelFolder, Quiet, TextColumn, output_file


def predict(
    model: ModelFolder,
    input_: Annotated[
        str,
        typer.Argument(
            metavar="INPUT", help="csv, tsv, jsonl or parquet file, or - for csv, tsv or jsonl on standard input."
        ),
    ],
    output: Annotated[Path | None, output_file("Default: CSV on standard output.")] = None,
    text_column: TextColumn = None,
    encoding: Encoding = "utf-8",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column with the probability of each class.")
    ] = False,
    device: Device = "auto",
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Write JSON lines instead of CSV to standard output.")] = False,
) -> None:
    """Add a predicted label and its confidence to every row of a file. Memory use does not grow with the file."""
    from jointmatch.data.tables import check_file
    from jointmatch.data.writing import check_target

    if output is not None:
        check_target(output, input_)
    if input_ != "-":
        check_file(input_)  # before importing torch, which takes seconds

    from jointmatch.cli.output import make_listener
    from jointmatch.model import Model
    from jointmatch.networks import find_device
    from jointmatch.predict import predict_file

    listener = make_listener(quiet)
    found = find_device(device)
    rows = predict_file(
        lambda: Model.load(model, str(found)),
        input_,
        output,
        text_column=text_column,
        encoding=encoding,
        probabilities=probabilities,
        stdout_format="jsonl" if json else "csv",
        listener=listener,
    )
    if output is not None:
        listener.note(f"Wrote {rows} predictions to {output}.")
