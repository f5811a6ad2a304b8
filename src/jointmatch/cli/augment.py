"""``jointmatch augment``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jointmatch.cli.options import Encoding, Quiet, TextColumn, output_file

if TYPE_CHECKING:
    from jointmatch.augmentation import Augmented


def augment(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="csv, tsv, jsonl or parquet file with a column of texts.")
    ],
    weak: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Augmenter for weak views; 'jointmatch augmenters' lists them."),
    ] = None,
    strong: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Augmenter for strong views. Repeatable.")
    ] = None,
    output: Annotated[Path | None, output_file("Without it, views only go into the cache.")] = None,
    views: Annotated[int, typer.Option(min=1, help="Views per text that each random augmenter makes.")] = 1,
    text_column: TextColumn = None,
    encoding: Encoding = "utf-8",
    backbone: Annotated[str, typer.Option(help="Backbone whose mask token or language model is used.")] = "auto",
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON.")] = False,
) -> None:
    """Make augmented versions (weak and strong views) of a file's texts before training."""
    from jointmatch.cli.given import refuse_pipe
    from jointmatch.data.tables import check_file
    from jointmatch.data.writing import check_target
    from jointmatch.errors import InputError

    refuse_pipe(file)
    check_file(file)
    if output is not None:
        check_target(output, file)
    if not weak and not strong:
        raise InputError(
            "Nothing to make: name an augmenter with --weak or --strong; 'jointmatch augmenters' lists them."
        )

    from jointmatch.augmentation import augment_file
    from jointmatch.cli.output import make_listener, print_json, say, table

    augmented = augment_file(
        file,
        {"weak": weak or [], "strong": strong or []},
        output,
        make_listener(quiet),
        views=views,
        text_column=text_column,
        encoding=encoding,
        backbone=backbone,
    )
    account = augmented.columns
    if json:
        print_json([vars(made) for made in account])
        return
    rows = [[m.column, m.augmenter, str(m.total), f"{m.changed} ({m.changed / max(m.total, 1):.1%})"] for m in account]
    table(["column", "augmenter", "texts", "changed"], rows)
    if output is None:
        kept = [made.column for made in account if made.kept]
        where = f"Kept in the cache for 'jointmatch train': {', '.join(kept)}." if kept else "Nothing was kept."
        say(f"{where} What costs little is made afresh when it is needed; --output FILE writes all as columns.")
    else:
        say(f"Wrote {output}. {_next_step(output, augmented)}")
        if len(account) > len(_kinds(augmented)):
            say("That reads one column of each kind. To have all of them, give 'train' the same --weak, --strong and")
            say("--views instead: what costs much comes from the cache.")


def _kinds(augmented: Augmented) -> list[str]:
    return [kind for kind in ("weak", "strong") if any(made.column == kind for made in augmented.columns)]


def _next_step(output: Path, augmented: Augmented) -> str:
    """Return the command that trains with the views: they may stand beside labels, or go with labels elsewhere."""
    views = " ".join(f"--{kind}-column {kind}" for kind in _kinds(augmented))
    elsewhere = f"jointmatch train LABELED --unlabeled {output} {views} ..."
    steps = {
        True: f"jointmatch train {output} {views} ...",
        False: elsewhere,
        None: f"{elsewhere}, or, if a column holds labels: jointmatch train {output} --label-column NAME {views} ...",
    }
    return f"To train with these very views: {steps[augmented.labeled]}"
