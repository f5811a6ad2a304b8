"""``jointmatch demo``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from jointmatch.cli.options import Quiet

MARK = ".demo"  # marks a folder that a demo may replace


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the run. An earlier demo there is replaced.")
    ] = Path("jointmatch-demo"),
    algorithm: Annotated[
        str, typer.Option(help="Algorithm to train; 'jointmatch algorithms' lists them.")
    ] = "jointmatch",
    labels_per_class: Annotated[int, typer.Option(min=1, help="Labelled texts per class.")] = 5,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds to train.")] = 3,
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train on the bundled corpus and compare with supervised training and other baselines."""
    from jointmatch.cli.output import make_listener, print_json, say
    from jointmatch.cli.verdict import show_summary
    from jointmatch.data.demo import corpus_file, demo_splits
    from jointmatch.record import RunFolder
    from jointmatch.resolve import check
    from jointmatch.seeds import train_seeds

    settings = {"algorithm": {"name": algorithm}, "training": {"mode": "lite"}}
    check(settings)  # fail on bad settings before the folder is touched
    demo_splits(labels_per_class, 0)
    listener = make_listener(quiet)
    listener.note(
        f"Six kinds of message to a support desk; {labels_per_class} labels per class, the other training texts "
        "without labels, 180 test texts."
    )
    _check_place(output)
    with RunFolder(output).claimed(overwrite=True):
        (output / MARK).touch()
        result = train_seeds(
            lambda seed: demo_splits(labels_per_class, seed),
            settings,
            range(seeds),
            output,
            listener,
        )
    if json:
        print_json(result)
        return
    show_summary(result)
    say(f"Run folder: {output}   Model: {output}/model")
    command = "jointmatch" if shutil.which("jointmatch") else sys.argv[0]  # a venv need not be on the PATH
    say(f"Try it: {command} predict {output}/model {corpus_file('test')} | head")


def _check_place(output: Path) -> None:
    """Refuse to replace a run of the user's own: no demo is worth that."""
    from jointmatch.errors import OutputError

    is_run = any(output.glob("config.toml")) or any(output.glob("seed-*/config.toml"))
    if is_run and not (output / MARK).exists():
        raise OutputError(f"{output} holds a run that is no demo. Choose another --output, or delete it first.")
