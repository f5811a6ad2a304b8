"""``jointmatch train``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from jointmatch.cli.options import Quiet

DATA, METHOD = "Data", "Method"  # headings in the help


def _data(text: str, metavar: str = "FILE") -> Any:
    return typer.Option(help=text, metavar=metavar, rich_help_panel=DATA)


def _method(text: str, metavar: str = "NAME") -> Any:
    return typer.Option(help=text, metavar=metavar, rich_help_panel=METHOD)


def train(
    labeled: Annotated[
        str, typer.Argument(metavar="LABELED", help="File with texts and labels, or the name of a benchmark data set.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the run: model, scores, history.")
    ],
    unlabeled: Annotated[
        list[Path] | None,
        typer.Option(
            "--unlabeled",
            "--unlabelled",
            metavar="FILE",
            help="File of unlabelled texts. Repeatable.",
            rich_help_panel=DATA,
        ),
    ] = None,
    dev: Annotated[Path | None, _data("Labelled file that chooses the checkpoint.")] = None,
    test: Annotated[Path | None, _data("Labelled file that is only scored.")] = None,
    text_column: Annotated[str | None, _data("Column of texts, if its name is not a common one.", "NAME")] = None,
    label_column: Annotated[str | None, _data("Column of labels, if its name is not a common one.", "NAME")] = None,
    weak_column: Annotated[str | None, _data("Column with weak views you made yourself.", "NAME")] = None,
    strong_column: Annotated[str | None, _data("Column with strong views you made yourself.", "NAME")] = None,
    encoding: Annotated[str | None, _data("Character encoding of the files. Default: utf-8.", "NAME")] = None,
    labels_per_class: Annotated[int | None, _data("Use only this many labels per class, drawn by seed.", "N")] = None,
    data_dir: Annotated[Path | None, _data("Folder of benchmark data. Default: $JOINTMATCH_DATA.", "FOLDER")] = None,
    algorithm: Annotated[str | None, _method("Default: jointmatch. 'jointmatch algorithms' lists them.")] = None,
    recipe: Annotated[str | None, _method("best (default), paper, official or published.")] = None,
    mode: Annotated[str | None, _method("lite (frozen encoder), full (fine-tuning) or auto (default).")] = None,
    backbone: Annotated[str | None, _method("auto, minilm, a folder or a hub name.")] = None,
    weak: Annotated[str | None, _method("Augmenter for the view that networks label.")] = None,
    strong: Annotated[list[str] | None, _method("Augmenter for the view they learn from. Repeatable.")] = None,
    views: Annotated[int | None, _method("Views per text, of augmenters that run once per text.", "N")] = None,
    seed: Annotated[int | None, _method("Seed of all random choices. Default: 0.", "N")] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Train this many seeds, from --seed on.", rich_help_panel=METHOD),
    ] = None,
    config: Annotated[Path | None, _method("TOML file of settings.", "FILE")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any setting by its name. Repeatable.", rich_help_panel=METHOD),
    ] = None,
    device: Annotated[str | None, typer.Option(metavar="NAME", help="auto, cpu, cuda or cuda:N.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --output.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --output.")] = False,
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train a classifier on a file with a few labels and any number of unlabelled texts."""
    from jointmatch.cli.given import check_one_of, refuse_pipe
    from jointmatch.data.source import Source

    check_one_of(resume, overwrite)
    refuse_pipe(labeled, *(unlabeled or []), dev, test)
    source = Source(labeled, unlabeled or [], dev, test, labels_per_class, data_dir)
    source.check()  # before importing torch, which takes seconds

    from jointmatch.cli import output as out
    from jointmatch.cli.verdict import show_run, show_seeds
    from jointmatch.config import build, merge, parse_overrides, read_toml
    from jointmatch.networks import check_backbone
    from jointmatch.precedence import check_file, check_options
    from jointmatch.record import RunFolder
    from jointmatch.run import run
    from jointmatch.seeds import check_alone, check_seeds, train_seeds

    options = _options(
        data={
            "text_column": text_column,
            "label_column": label_column,
            "weak_column": weak_column,
            "strong_column": strong_column,
            "encoding": encoding,
        },
        augment={"weak": weak, "strong": strong or None, "views": views},
        network={"backbone": backbone},
        algorithm={"name": algorithm},
        training={"recipe": recipe, "mode": mode, "device": device, "seed": seed},
    )
    overrides = parse_overrides(set_ or [])
    check_options(options, overrides)
    file, line = read_toml(config) if config else {}, merge(options, overrides)
    check_file(config, file, line)
    settings = merge(file, line)
    first = _check(settings)
    _check(merge(settings, {"training": {"seed": first + (seeds or 1) - 1}}))  # the last seed
    source = replace(source, config=build({"data": settings.get("data", {})}).data)
    splits = source.splits(first)  # fail on bad data or a bad backbone before the output folder is touched
    check_backbone(settings.get("network", {}).get("backbone", "auto"))
    several = range(first, first + seeds) if seeds and seeds > 1 else None
    if resume:
        check_seeds(output, several) if several else check_alone(output)
    with RunFolder(output).claimed(overwrite, resume):
        listener = out.make_listener(quiet)
        if resume and not any(output.iterdir()):
            listener.note(f"There is nothing to resume in {output}: starting anew.")
        if several:
            splits_of = source.splits if labels_per_class else lambda seed: splits  # no labels drawn: same for all
            result = train_seeds(splits_of, settings, several, output, listener, resume)
        else:
            result = run(splits, settings, output, listener, resume).result
    if json:
        out.print_json(result)
    else:
        show_seeds(result, str(output)) if several else show_run(result, str(output))


def _options(**sections: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: {k: v for k, v in values.items() if v is not None} for name, values in sections.items()}


def _check(settings: dict[str, dict[str, Any]]) -> int:
    """Report all faults in the settings at once, before any file is read; return the seed."""
    from jointmatch.resolve import check

    check(settings)
    return int(settings.get("training", {}).get("seed", 0))
