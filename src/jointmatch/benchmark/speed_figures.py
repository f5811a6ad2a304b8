"""Figures of speed: the ways to train side by side, and how the cost of ours grows."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from jointmatch.benchmark.drawing import COLOURS, STYLES, Shown, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^v"


def draw_ways(figure: Figure, shown: Shown) -> None:
    """A panel for each shape, a bar for each way: ``shape``, ``device`` and ``bars`` of (title, ms, times or None)."""
    rows = max(len(group["bars"]) for group in shown)
    figure.set_size_inches(9.2, 0.55 * rows * len(shown) + 0.7 + 0.5 * len(shown))
    panels = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
    for axes, group in zip(panels, shown, strict=True):
        titles, times, gains = zip(*group["bars"], strict=True)
        places = range(len(titles))
        ways = [title.split(" (")[0] for title in titles]  # one colour each, whatever is trained by it
        numbers = [list(dict.fromkeys(ways)).index(way) for way in ways]
        axes.barh(places, times, color=[COLOURS[i % len(COLOURS)] for i in numbers], height=0.62)
        axes.set_yticks(places, ["\n".join(textwrap.wrap(title, 46)) for title in titles])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.grid(visible=False, axis="y")
        for place, ms, gain in zip(places, times, gains, strict=True):
            told = f", {gain:.1f} times" if gain and gain > 1 else ""
            axes.annotate(f" {ms:.1f} ms{told}", (ms, place), va="center", fontsize=9)
        axes.set_xlim(min(times) / 2, max(times) * 4)  # room for what is written beside the bars
        axes.set(title=f"{group['shape']}, {group['device']}", xlabel="ms per outer step and seed, logarithmic")


def draw_growth(figure: Figure, shown: Shown) -> None:
    """A panel for each axis, a line for each shape and way: ``axis``, ``device``, ``lines`` of name -> (value, ms)."""
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure.set_size_inches(3.5 * columns + 0.4, 2.9 * rows + 0.6)
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    names = list(dict.fromkeys(name for panel in shown for name in panel["lines"]))
    for axes, panel in zip(panels, shown, strict=False):
        for name, points in panel["lines"].items():
            number = names.index(name)  # not every line is in every panel
            values, times = zip(*points, strict=True)
            look = {"color": COLOURS[number], "linestyle": STYLES[number], "marker": MARKERS[number]}
            axes.plot(values, times, label=name, **look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        ticks = sorted({value for points in panel["lines"].values() for value, _ in points})
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.margins(x=0.12)  # numbers at the ends stay clear of those of the next panel
        axes.set(xlabel=panel["axis"])
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    for row in range(rows):
        panels[row * columns].set_ylabel("ms per outer step")
    legend_below(figure)
    figure.suptitle(f"Cost of a step, all else as usual, {shown[0]['device']}")
