"""What all figures share: their look, their colours, and a file that names the digest of its numbers."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jointmatch.errors import MissingExtraError, OutputError
from jointmatch.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, safe for colour-blind readers; line styles repeat the distinction.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
STYLES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)), "-", "--"]
LOOK: dict[Any, Any] = {
    "svg.hashsalt": "jointmatch",  # the same numbers give the same file
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}

Shown = list[dict[str, Any]]
"""The numbers of a figure, as JSON: one entry a line, a panel or a group of bars; empty where nothing has been run."""
Painter = Callable[["Figure", Shown], None]


@dataclass(frozen=True)
class Picture:
    """A kind of figure."""

    title: str
    painter: Painter


def digest(shown: Shown, painter: Painter) -> str:
    """Digest that changes with the numbers and with how they are drawn, not with the version of matplotlib."""
    numbers = json.dumps(shown, sort_keys=True)
    return hashlib.sha256((numbers + inspect.getsource(painter)).encode()).hexdigest()[:16]


def draw(shown: Shown, painter: Painter, path: str | Path) -> None:
    """Write the figure as SVG or PNG, depending on the path's suffix; an SVG names the digest of its numbers."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise MissingExtraError('Figures need matplotlib: pip install "jointmatch[figures]".') from None

    path = Path(path)
    ending = path.suffix.lstrip(".")
    with mpl.rc_context(LOOK):
        figure = Canvas(layout="constrained")
        painter(figure, shown)
        metadata = {"Date": None, "Description": digest(shown, painter)} if ending == "svg" else None
        try:
            write_atomically(path, lambda p: figure.savefig(p, format=ending, dpi=130, metadata=metadata))
        except OSError as error:
            raise OutputError(f"The figure {path} cannot be written ({error.strerror}).") from None


def legend_below(figure: Figure, longest: int = 30) -> None:
    """Put one legend below all panels, in as many columns as fit, with names cut at ``longest`` letters."""
    named = {
        name: handle for axes in figure.axes for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    names, handles = list(named), list(named.values())
    shown = [name if len(name) <= longest else f"{name[: longest - 1]}…" for name in names]
    room = figure.get_figwidth() * 13.7 / (max(map(len, shown)) + 7)  # characters per inch, 7 for line and gap
    columns = max(1, min(len(names), int(room)))
    figure.legend(handles, shown, loc="outside lower center", ncols=columns)
    figure.set_figheight(figure.get_figheight() + 0.2 * (math.ceil(len(names) / columns) - 1))
