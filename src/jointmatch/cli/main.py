"""The command line: registers the commands and turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import functools
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from jointmatch.cli import algorithms, augment, benchmark, cache, demo, evaluate, lists, predict, train
from jointmatch.errors import InputError, Interrupted, JointMatchError
from jointmatch.version import __version__

_STOPPED = 130  # what a shell returns for a program stopped by Ctrl-C: 128 plus the signal number

app = typer.Typer(
    name="jointmatch",
    help="Text classification from a few labels per class and many unlabelled texts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


STOPPED = {"predict": "Stopped. No file was written.", "evaluate": "Stopped."}


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Raise our own error on Ctrl-C: Typer would turn it into a bare "Aborted!"."""

    @functools.wraps(command)
    def run(*args: object, **kwargs: object) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            raise Interrupted(STOPPED.get(command.__name__, "Stopped. What was finished is cached.")) from None

    return run


for _command in (
    demo.demo,
    train.train,
    predict.predict,
    evaluate.evaluate,
    augment.augment,
    cache.cache,
    algorithms.algorithms,
    lists.augmenters,
    lists.backbones,
    lists.datasets,
    lists.doctor,
):
    app.command(_command.__name__)(_interruptible(_command))

_benchmark = typer.Typer(
    name="benchmark",
    help="Run the paper's tables and others, and show our numbers beside the paper's.",
    no_args_is_help=True,
)
for _part in (benchmark.run, benchmark.list_, benchmark.table, benchmark.figure, benchmark.pages):
    _benchmark.command(_part.__name__.strip("_"))(_interruptible(_part))
app.add_typer(_benchmark)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jointmatch {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command. Exit codes: 0 done, 2 the input is at fault, 130 stopped by Ctrl-C, 1 anything else."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app()
    except InputError as error:
        _fail(f"Error: {error}", 2)
    except Interrupted as error:
        resume = " Run the same command with --resume to go on." if "train" in sys.argv[1:2] else ""
        _fail(f"{error}{resume}", _STOPPED)
    except JointMatchError as error:
        _fail(f"Error: {error}", 1)
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # torch's, recognised by name as torch is not imported here
            raise
        _fail(
            "Error: out of GPU memory where smaller batches do not help. Try --mode lite, a smaller --backbone or "
            "--device cpu.",
            1,
        )
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _fail(
            f"Error: the disk is full ({error.filename or 'while writing'}). What was written before is whole: "
            "make room, then run the same command with --resume.",
            1,
        )


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """Show our own warnings by themselves, as they are for the user; others keep their location."""
    ours = category.__module__.startswith("jointmatch.")
    typer.echo(f"Warning: {message}" if ours else warnings.formatwarning(message, category, filename, lineno), err=True)


def _fail(message: str, code: int) -> None:
    typer.echo(message, err=True)
    sys.exit(code)
