"""``jointmatch predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def predict(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    input_: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="csv, tsv, jsonl or parquet file; - for a pipe of csv, tsv or jsonl."),
    ],
    output: Annotated[Path | None, typer.Option(help="File by extension; else CSV on the output.")] = None,
    text_column: Annotated[str | None, typer.Option(help="Found by itself where the name is usual.")] = None,
    encoding: Annotated[str, typer.Option(help="Of the input.")] = "utf-8",
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Add a column per class.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", help="Only errors, warnings and the result.")] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON lines instead of CSV on the output.")] = False,
) -> None:
    """Add a prediction and its confidence to every row of a file, in constant memory."""
    from jointmatch.data.tables import check_file
    from jointmatch.data.writing import check_target

    if output is not None:
        check_target(output, input_)
    if input_ != "-":
        check_file(input_)  # before the seconds that importing torch takes

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
