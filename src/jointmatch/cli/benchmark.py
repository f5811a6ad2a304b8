"""``jointmatch benchmark``: run experiments, see how far they are, show their tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from jointmatch.benchmark import Experiment

RESULTS = Path("benchmarks/results")

Name = Annotated[str, typer.Argument(metavar="NAME", help="An experiment of the package, or a .toml file.")]
Results = Annotated[Path, typer.Option(help="Folder of results, where finished cells are kept.")]
Backbone = Annotated[str, typer.Option(help="minilm, a folder, or a hub name such as bert-base-uncased.")]
Seeds = Annotated[int | None, typer.Option(min=1, help="So many, from 0 on; else what the experiment says.")]


def run(
    name: Name,
    seeds: Seeds = None,
    only: Annotated[list[str] | None, typer.Option(help="Variants to run, by name or pattern; repeat it.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Data sets of the experiment to run; repeat it.")] = None,
    backbone: Backbone = "auto",
    data_dir: Annotated[Path | None, typer.Option(help="Folder of data sets; else JOINTMATCH_DATA.")] = None,
    results: Results = RESULTS,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what a stopped run left; that is always done.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Runs side by side, sharing the GPU or the cores.")] = 1,
    together: Annotated[
        int | None,
        typer.Option(
            min=1, help="Seeds of a row that one process trains as one stack; else all on a GPU, one on a CPU."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="Start nothing new after this long.")] = float("inf"),
) -> None:
    """Run the cells of an experiment that are not finished; each one is kept as it ends."""
    from jointmatch.benchmark.suites import Options, suite_of
    from jointmatch.cli.output import say

    experiment = _load(name, seeds, dataset or [])
    where = str(data_dir) if data_dir else os.environ.get("JOINTMATCH_DATA")
    options = Options(results, backbone, where, only or [], jobs, together, seconds, lambda text: say(text, flush=True))
    suite_of(experiment).run(experiment, options)


def list_(
    results: Results = RESULTS,
    backbone: Backbone = "auto",
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the experiments of the package: what each one is, cells finished and wanted."""
    from jointmatch.benchmark import Store, load, shipped
    from jointmatch.benchmark.suites import suite_of
    from jointmatch.cli.output import print_json, table

    _say_if_absent(results)
    store, entries = Store(results), []
    for name in shipped():
        experiment = load(name)
        done, wanted = suite_of(experiment).progress(experiment, store, backbone)
        entries.append(
            {"name": name, "title": experiment.title, "about": experiment.about, "done": done, "wanted": wanted}
        )
    if json:
        print_json(entries)
        return
    table(
        ["name", "what it is", "finished"],
        [[str(e["name"]), str(e["title"]), f"{e['done']} of {e['wanted']}"] for e in entries],
    )


def table(
    name: Name,
    format_: Annotated[Literal["markdown", "csv", "latex"], typer.Option("--format", help="How it is written.")] = (
        "markdown"
    ),
    seeds: Seeds = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Data sets to show; repeat it.")] = None,
    backbone: Backbone = "auto",
    results: Results = RESULTS,
) -> None:
    """Show an experiment's table from what is finished, the paper's numbers beside."""
    from jointmatch.benchmark import Store
    from jointmatch.benchmark.formats import latex, markdown
    from jointmatch.benchmark.suites import suite_of
    from jointmatch.cli.output import say

    experiment, store = _load(name, seeds, dataset or []), Store(results)
    _say_if_absent(results)
    suite = suite_of(experiment)
    if format_ == "csv":
        say(suite.csv(experiment, store, backbone))
        return
    write = markdown if format_ == "markdown" else latex
    say(write(suite.tables(experiment, store, backbone)))


def _say_if_absent(results: Path) -> None:
    """On the error stream: what follows may be read by another program."""
    if not results.is_dir():
        told = f"There are no results in {results}, so nothing counts as run. Name their folder with --results."
        typer.echo(told, err=True)


def figure(
    name: Name,
    output: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("figures"),
    format_: Annotated[Literal["svg", "png"], typer.Option("--format", help="How they are written.")] = "svg",
    backbone: Backbone = "auto",
    results: Results = RESULTS,
) -> None:
    """Draw an experiment's figures from what is finished."""
    from jointmatch.benchmark import Store, load, shipped
    from jointmatch.benchmark.drawing import draw
    from jointmatch.benchmark.suites import suite_of
    from jointmatch.cli.output import say
    from jointmatch.errors import InputError

    experiment = _load(name, None, [])
    suite, store = suite_of(experiment), Store(results)
    if not experiment.figures:
        known = ", ".join(other for other in shipped() if load(other).figures)
        raise InputError(f"{name} has no figures. Those with some: {known}.")
    for kind in experiment.figures:
        shown = suite.shown(experiment, store, backbone, kind)
        path = output / f"{experiment.name}-{kind}.{format_}"
        if shown:
            draw(shown, suite.pictures[kind].painter, path)
        say(str(path) if shown else f"{kind}: not run. First: jointmatch benchmark run {name}")


def pages(
    folder: Annotated[Path, typer.Argument(help="Folder of Markdown pages, such as docs/results.")],
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 2 if a page is stale.")] = False,
    results: Results = RESULTS,
) -> None:
    """Bring the numbers on pages up to date with the results, or check that they are."""
    from jointmatch.benchmark import Store
    from jointmatch.benchmark.pages import Pages
    from jointmatch.cli.output import say
    from jointmatch.errors import InputError

    found = Pages(folder, Store(results))
    if not results.is_dir():
        raise InputError(f"There are no results in {results}: every page would say that nothing has been run.")
    if check:
        found.check()
        say(f"{len(found.files)} pages are what the results give.")
        return
    changed = found.write()
    for path in changed:
        say(str(path))
    say(f"{len(changed)} files changed.")


def _load(name: str, seeds: int | None, datasets: list[str]) -> Experiment:
    from dataclasses import replace

    from jointmatch.benchmark import load

    experiment = load(name).on_sets(datasets)
    return replace(experiment, seeds=list(range(seeds))) if seeds else experiment
