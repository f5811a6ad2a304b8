"""The command line: registers the commands and turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated

import typer

from jointmatch.cli import demo, evaluate, lists, predict, train
from jointmatch.errors import InputError, Interrupted, JointMatchError
from jointmatch.version import __version__

app = typer.Typer(
    name="jointmatch",
    help="Text classification from a few labels per class and many unlabelled texts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("evaluate")(evaluate.evaluate)
app.command("algorithms")(lists.algorithms)
app.command("backbones")(lists.backbones)
app.command("datasets")(lists.datasets)
app.command("doctor")(lists.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jointmatch {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    pass


def main() -> None:
    """Run a command: exit 0 done, 2 the input is at fault, 1 anything else."""
    try:
        app()
    except InputError as error:
        _fail(f"Error: {error}", 2)
    except Interrupted as error:
        _fail(f"{error} Run the same command with --resume to go on.", 1)
    except JointMatchError as error:
        _fail(f"Error: {error}", 1)
    except KeyboardInterrupt:
        _fail("Stopped.", 1)
    except BrokenPipeError:  # the reader of our output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _fail(
            f"Error: the disk is full ({error.filename or 'while writing'}). What was written before is whole: "
            "make room, then run the same command with --resume.",
            1,
        )


def _fail(message: str, code: int) -> None:
    typer.echo(message, err=True)
    sys.exit(code)
