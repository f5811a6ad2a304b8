"""``jointmatch benchmark``: run experiments, check their progress, show their tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jointmatch.cli.options import DataDir, Json

if TYPE_CHECKING:
    from jointmatch.benchmark import Experiment

RESULTS = Path("benchmarks/results")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a built-in experiment, or a .toml file.")]
Results = Annotated[Path, typer.Option(help="Folder where the results of finished cells are kept.")]
Backbone = Annotated[str, typer.Option(help="minilm, a folder, or a hub name such as bert-base-uncased.")]
Seeds = Annotated[
    int | None, typer.Option(min=1, max=1000, help="Number of seeds, counted from 0. Default: as the experiment says.")
]


def run(
    name: Name,
    seeds: Seeds = None,
    only: Annotated[list[str] | None, typer.Option(help="Rows to run, by name or pattern. Repeatable.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Data sets to run. Repeatable.")] = None,
    backbone: Backbone = "auto",
    data_dir: DataDir = None,
    results: Results = RESULTS,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue where a stopped run left off. This is always done.")
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, help="Processes that run cells in parallel, sharing the GPU or the cores.")
    ] = 1,
    together: Annotated[
        int | None,
        typer.Option(
            min=1, help="Seeds of a row that one process trains as one stack. Default: all on a GPU, one on a CPU."
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(help="Start no new cell after this many seconds; those under way then are finished."),
    ] = float("inf"),
    compiled: Annotated[
        bool | None,
        typer.Option(
            "--compiled/--not-compiled",
            help="Compile the layers of networks trained whole, on a GPU, or do not, whatever the experiment says. "
            "Default: where it is likely to pay off.",
        ),
    ] = None,
) -> None:
    """Run the unfinished cells of an experiment. Each result is saved as soon as its cell is done."""
    from jointmatch.benchmark.suites import Options, suite_of
    from jointmatch.cli.output import say

    experiment = _load(name, seeds, dataset or [])
    where = str(data_dir) if data_dir else None  # else JOINTMATCH_DATA, which workers see as well
    told = partial(say, flush=True)
    options = Options(results, backbone, where, only or [], jobs, together, seconds, compiled, told)
    suite_of(experiment).run(experiment, options)


def list_(
    results: Results = RESULTS,
    backbone: Backbone = "auto",
    json: Json = False,
) -> None:
    """List the built-in experiments, what each one is, and how many of its cells are finished."""
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
    format_: Annotated[Literal["markdown", "csv", "latex"], typer.Option("--format", help="Format of the table.")] = (
        "markdown"
    ),
    seeds: Seeds = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Data sets to show. Repeatable.")] = None,
    backbone: Backbone = "auto",
    results: Results = RESULTS,
) -> None:
    """Show an experiment's table from its finished cells, with the paper's numbers beside ours."""
    from jointmatch.benchmark import Store
    from jointmatch.benchmark.formats import latex, markdown
    from jointmatch.benchmark.suites import strangers, suite_of
    from jointmatch.cli.output import say

    experiment, store = _load(name, seeds, dataset or []), Store(results)
    _say_if_absent(results)
    suite = suite_of(experiment)
    if told := strangers(experiment, store, backbone):
        typer.echo(told, err=True)
    if format_ == "csv":
        say(suite.csv(experiment, store, backbone))
        return
    write = markdown if format_ == "markdown" else latex
    say(write(suite.tables(experiment, store, backbone)))


def _say_if_absent(results: Path) -> None:
    """Warn on standard error: standard output may be read by another program."""
    if not results.is_dir():
        told = f"There are no results in {results}, so nothing counts as run. Name their folder with --results."
        typer.echo(told, err=True)


def figure(
    name: Name,
    output: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("figures"),
    format_: Annotated[Literal["svg", "png"], typer.Option("--format", help="Format of the figures.")] = "svg",
    backbone: Backbone = "auto",
    results: Results = RESULTS,
) -> None:
    """Draw an experiment's figures from its finished cells: one for each data set and number of labels."""
    from itertools import product

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
    parts, options = experiment.parts(), "" if backbone == "auto" else f" --backbone {backbone}"
    options += "" if results == RESULTS else f" --results {results}"
    for kind, part in product(experiment.figures, parts):
        shown = suite.shown(part, store, backbone, kind)
        of_part = "".join(f"-{data}-{counts[0]}" for data, counts in part.data.items()) if len(parts) > 1 else ""
        path = output / f"{experiment.name}-{kind}{of_part}.{format_}"
        if shown:
            draw(shown, suite.pictures[kind].painter, path)
        say(str(path) if shown else f"{path.stem}: not run. First: jointmatch benchmark run {name}{options}")


def pages(
    folder: Annotated[Path, typer.Argument(help="Folder of Markdown pages, such as docs/results.")],
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 2 if a page is stale.")] = False,
    results: Results = RESULTS,
) -> None:
    """Update the numbers on pages from the results, or check that they are up to date."""
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
