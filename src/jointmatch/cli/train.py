"""``jointmatch train``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer


def train(
    labeled: Annotated[str, typer.Argument(help="File with text and label columns, or a data set's name.")],
    output: Annotated[Path, typer.Option(help="Folder for the run.")],
    unlabeled: Annotated[list[Path] | None, typer.Option(help="File of unlabelled texts; may be repeated.")] = None,
    dev: Annotated[Path | None, typer.Option(help="Labelled file that chooses the checkpoint.")] = None,
    test: Annotated[Path | None, typer.Option(help="Labelled file that is only scored.")] = None,
    text_column: Annotated[str | None, typer.Option(help="Found by itself where the name is usual.")] = None,
    label_column: Annotated[str | None, typer.Option(help="Found by itself where the name is usual.")] = None,
    weak_column: Annotated[str | None, typer.Option(help="Column with your own weak views.")] = None,
    strong_column: Annotated[str | None, typer.Option(help="Column with your own strong views.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of the files; utf-8 unless named.")] = None,
    algorithm: Annotated[str | None, typer.Option(help="See 'jointmatch algorithms'.")] = None,
    recipe: Annotated[str | None, typer.Option(help="best (default), paper, official or published.")] = None,
    backbone: Annotated[str | None, typer.Option(help="auto, minilm, a folder or a hub name.")] = None,
    weak: Annotated[str | None, typer.Option(help="Augmenter of the view that gives the label.")] = None,
    strong: Annotated[list[str] | None, typer.Option(help="Augmenter of the trained view; may be repeated.")] = None,
    views: Annotated[int | None, typer.Option(help="Views of each text where they are made once.")] = None,
    mode: Annotated[str | None, typer.Option(help="auto, lite or full.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or cuda:N.")] = None,
    labels_per_class: Annotated[int | None, typer.Option(help="Draw this many labels per class.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of data sets; else JOINTMATCH_DATA.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything random.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Train this many seeds, from --seed on.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of settings.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="section.key=value; may be repeated.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --output.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only errors, warnings and the result.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON on the output.")] = False,
) -> None:
    """Train a classifier on a file with a few labels and any number of unlabelled texts."""
    from jointmatch.cli.given import check_one_of, refuse_pipe
    from jointmatch.data.source import Source

    check_one_of(resume, overwrite)
    refuse_pipe(labeled, *(unlabeled or []), dev, test)
    source = Source(labeled, unlabeled or [], dev, test, labels_per_class, data_dir)
    source.check()  # before the seconds that importing torch takes

    from jointmatch.cli import output as out
    from jointmatch.cli.verdict import show_run, show_seeds
    from jointmatch.config import build, merge, parse_overrides, read_toml
    from jointmatch.networks import check_backbone
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
    settings = merge(read_toml(config) if config else {}, options, parse_overrides(set_ or []))
    first = _check(settings)
    _check(merge(settings, {"training": {"seed": first + (seeds or 1) - 1}}))  # the last seed
    source = replace(source, config=build({"data": settings.get("data", {})}).data)
    splits = source.splits(first)  # bad data and a bad backbone are found before the output folder is touched
    check_backbone(settings.get("network", {}).get("backbone", "auto"))
    several = range(first, first + seeds) if seeds and seeds > 1 else None
    if resume:
        check_seeds(output, several) if several else check_alone(output)
    with RunFolder(output).claimed(overwrite, resume):
        listener = out.make_listener(quiet)
        if resume and not any(output.iterdir()):
            listener.note(f"There is nothing to resume in {output}: starting anew.")
        if several:
            splits_of = source.splits if labels_per_class else lambda seed: splits  # no labels drawn: the same for all
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
    """Report every fault of the settings at once, before any file is read; return the seed."""
    from jointmatch.resolve import check

    check(settings)
    return int(settings.get("training", {}).get("seed", 0))
