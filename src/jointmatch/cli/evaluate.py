"""``jointmatch evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jointmatch.cli.options import Device, Encoding, LabelColumn, ModelFolder, TextColumn


def evaluate(
    model: ModelFolder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Labelled file: csv, tsv, jsonl or parquet.")],
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    encoding: Encoding = "utf-8",
    device: Device = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print all metrics as JSON; rates are fractions.")] = False,
) -> None:
    """Score a model on a labelled file: accuracy, macro-F1, scores per class, confusions and calibration error."""
    from jointmatch.cli.given import refuse_pipe
    from jointmatch.data.tables import check_file

    refuse_pipe(file)
    check_file(file)  # before importing torch, which takes seconds

    from jointmatch.cli.output import make_listener, percent, print_json, say, table, width
    from jointmatch.config import DataConfig
    from jointmatch.evaluate import evaluate_file
    from jointmatch.model import Model
    from jointmatch.networks import find_device
    from jointmatch.training.metrics import no_text_of

    data = DataConfig(text_column=text_column, label_column=label_column, encoding=encoding)
    found = find_device(device)
    metrics, skipped = evaluate_file(lambda: Model.load(model, str(found)), file, data, make_listener(quiet=False))
    if json:
        print_json({**metrics, "classes": list(metrics["per_class"]), "without_label": skipped})
        return
    if skipped:
        say(f"{skipped} row(s) without a label: left out.")
    say(
        f"{metrics['n']} texts: accuracy {percent(metrics['accuracy'])} %, macro-F1 {percent(metrics['macro_f1'])} %, "
        f"calibration error {percent(metrics['ece'])} %"
    )
    absent = [name for name, m in metrics["per_class"].items() if not m["support"]]
    if absent:
        say(no_text_of(str(file), absent))
    columns = ["class", "texts", "precision", "recall", "F1"]
    rows = [
        [name, str(m["support"]), percent(m["precision"]), percent(m["recall"]), percent(m["f1"])]
        for name, m in metrics["per_class"].items()
    ]
    table(columns, rows, title="Per class (%)")
    names = list(metrics["per_class"])
    if sum(len(name) + 3 for name in ["true \\ predicted", *names]) <= width():
        counts = [[name, *map(str, row)] for name, row in zip(names, metrics["confusion"], strict=True)]
        table(["true \\ predicted", *names], counts, title="Confusion")
    else:
        mistakes = [
            (n, names[i], names[j])
            for i, row in enumerate(metrics["confusion"])
            for j, n in enumerate(row)
            if i != j and n
        ]
        worst = [[true, predicted, str(n)] for n, true, predicted in sorted(mistakes, reverse=True)[:12]]
        table(["true", "predicted as", "texts"], worst, title="Most frequent mistakes")
