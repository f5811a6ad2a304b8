"""How a run is shown: a live line on a terminal, plain lines elsewhere, tables at the end."""

from __future__ import annotations

import atexit
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jointmatch.listener import Listener


def make_listener(quiet: bool) -> Listener:
    """Return a listener that shows progress on standard error, so that the output can be piped."""
    if quiet:
        return _quiet()
    return _live() if sys.stderr.isatty() else _plain()


def _quiet() -> Listener:
    from jointmatch.listener import Listener

    class Quiet(Listener):
        def warn(self, text: str) -> None:
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is the command line's voice

    return Quiet()


def _plain() -> Listener:
    from jointmatch.listener import Printing

    return Printing()


def _live() -> Listener:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from jointmatch.listener import Listener, described

    class Live(Listener):
        def __init__(self) -> None:
            self.console = Console(stderr=True)
            self.progress: Progress | None = None
            atexit.register(self.done)  # an interrupted run must not leave the terminal without a cursor

        def note(self, text: str) -> None:
            self.console.print(text, highlight=False, markup=False)

        def stage(self, name: str, total: int | None) -> None:
            self.done()
            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self.progress = Progress(*columns, TextColumn("{task.fields[metrics]}"), console=self.console)
            self.progress.start()
            self.task = self.progress.add_task(name, total=total, metrics="")

        def advance(self, amount: int = 1) -> None:
            if self.progress:
                self.progress.advance(self.task, amount)

        def done(self) -> None:
            if self.progress:
                self.progress.stop()
                self.progress = None

        def evaluation(self, record: dict[str, Any]) -> None:
            if self.progress:
                self.progress.update(self.task, metrics=described(record))

    return Live()


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False))  # noqa: T201


def say(text: str = "", flush: bool = False) -> None:
    """Print one line on standard output; ``flush`` if the next may take a while."""
    print(text, flush=flush)  # noqa: T201


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "", tight: bool = False) -> None:
    """Print a table: drawn on a terminal, aligned text when piped; ``tight`` if there are many columns."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(width=width())
    drawn = Table(*columns, title=title or None, title_justify="left", box=box.SIMPLE, pad_edge=not tight)
    drawn.padding = (0, 0) if tight else (0, 1)
    for row in rows:
        drawn.add_row(*row)
    console.print(drawn, markup=False, highlight=False)


def width() -> int:
    """Return the columns of the terminal; a pipe has none, and without a width long cells would wrap at 80."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 200


def percent(value: float) -> str:
    """Format a fraction as a percentage with two decimals."""
    return f"{100 * value:.2f}"


def spread(values: dict[str, Any]) -> str:
    """Format mean and spread as percentages; a single value, which has no spread, by itself."""
    beside = f" ± {percent(values['std'])}" if len(values["values"]) > 1 else ""
    return f"{percent(values['mean'])}{beside}"
