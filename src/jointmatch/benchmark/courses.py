"""The paper's figures, from the histories of our runs: lines are means over seeds, bands span lowest to highest."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jointmatch.benchmark.drawing import COLOURS, STYLES, Shown, legend_below
from jointmatch.benchmark.results import Entry, Results
from jointmatch.benchmark.table import NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BANDS = 5  # with more, the bands hide the lines
_QUANTITIES = {
    "classes": ["pseudo_label_share_per_class"],
    "course": ["dev_accuracy"],
    "pseudo_labels": ["pseudo_label_share", "pseudo_label_accuracy"],
}


def curves(results: Results, kind: str) -> Shown:
    """Every method that has been run with its history kept.

    For each: its title, classes, seeds, steps (T,), and the values of each quantity, (seeds, T) or (seeds, T, C).
    """
    found = []
    for entry in results.entries.values():
        records = [r for r in entry.records if all(q in r.get("history", {}) for q in _QUANTITIES[kind])]
        if records and not entry.reference:
            found.append(_curve(entry, records, kind))
    return found


def _curve(entry: Entry, records: Sequence[dict[str, Any]], kind: str) -> dict[str, Any]:
    """Values at the steps that all seeds have; at step 0 there are no pseudo-labels yet."""
    places = [{step: i for i, step in enumerate(r["history"]["step"]) if step or kind == "course"} for r in records]
    steps = [step for step in places[0] if all(step in place for place in places)]
    return {
        "title": entry.title,
        "data": entry.data,
        "labels": entry.labels,
        "seeds": len(records),
        "classes": records[0]["classes"],
        "steps": steps,
        **{
            q: [[r["history"][q][place[step]] for step in steps] for r, place in zip(records, places, strict=True)]
            for q in _QUANTITIES[kind]
        },
    }


def draw_classes(figure: Figure, shown: Shown) -> None:
    """A panel for each method, a line for each class."""
    figure.set_size_inches(max(4.2 * len(shown) + 0.4, 6.8), 3.6)  # the title's width at least
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, curve in zip(panels, shown, strict=True):
        values = 100 * _numbers(curve["pseudo_label_share_per_class"])  # (seeds, T, C)
        for c, name in enumerate(curve["classes"]):
            _line(axes, curve["steps"], values[..., c], c, name, band=len(curve["classes"]) <= MOST_BANDS)
        share = 100 / len(curve["classes"])
        axes.axhline(share, color="0.45", linewidth=1, linestyle=(0, (2, 3)), label="all texts, evenly")
        axes.set(title=curve["title"], xlabel="step", ylim=(0, None))
    panels[0].set_ylabel("texts given this label, %")
    legend_below(figure)
    figure.suptitle(_what(shown, "pseudo-labels of each class"))


def draw_course(figure: Figure, shown: Shown) -> None:
    """A line for each method."""
    figure.set_size_inches(5.6, 3.8)
    axes = figure.subplots()
    for number, curve in enumerate(shown):
        _line(axes, curve["steps"], 100 * _numbers(curve["dev_accuracy"]), number, curve["title"])
    axes.set(xlabel="step", ylabel="accuracy on dev, %", title=_what(shown, "accuracy on dev"))
    axes.legend(loc="best")


def draw_pseudo_labels(figure: Figure, shown: Shown) -> None:
    """How many, and how many of them are right."""
    figure.set_size_inches(8.8, 3.8)
    panels = figure.subplots(1, 2)
    sides = (
        ("pseudo_label_share", "quantity", "texts with a pseudo-label, %"),
        ("pseudo_label_accuracy", "quality", "pseudo-labels that are right, %"),
    )
    for axes, (quantity, title, label) in zip(panels, sides, strict=True):
        for number, curve in enumerate(shown):
            _line(axes, curve["steps"], 100 * _numbers(curve[quantity]), number, curve["title"])
        axes.set(title=title, xlabel="step", ylabel=label)
    legend_below(figure)
    figure.suptitle(_what(shown, "pseudo-labels"))


def _line(axes: Axes, steps: Sequence[int], values: np.ndarray, number: int, name: str, band: bool = True) -> None:
    """Plot the mean over seeds of (seeds, T), and a band from the lowest to the highest."""
    colour, style = COLOURS[number % len(COLOURS)], STYLES[number % len(STYLES)]
    with warnings.catch_warnings():  # a step at which no seed has a number is a gap
        warnings.simplefilter("ignore", RuntimeWarning)
        mean, low, high = np.nanmean(values, 0), np.nanmin(values, 0), np.nanmax(values, 0)
    axes.plot(steps, mean, color=colour, linestyle=style, linewidth=1.8, label=name)
    if len(values) > 1 and band:
        axes.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)


def _numbers(values: Any) -> np.ndarray:
    """Values as floats, with a gap where an evaluation has no number."""
    return np.array(values, dtype=float)


def _what(shown: Shown, quantity: str) -> str:
    first = shown[0]
    seeds = min(curve["seeds"] for curve in shown)
    data = NAMES.get(first["data"], first["data"])
    return f"{data}, {first['labels']} labels per class: {quantity} ({seeds} seed{'s' * (seeds > 1)})"
