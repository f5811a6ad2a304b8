"""Output formats of a table: Markdown, LaTeX, and CSV with every number on a line of its own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from jointmatch.benchmark.experiment import METRICS
from jointmatch.benchmark.results import LAST, Entry, Results


@dataclass(frozen=True)
class Section:
    """One table."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)


def markdown(tables: Sequence[Section]) -> str:
    """Tables one below the other, each under its title."""
    return "\n\n".join(_markdown(t) for t in tables)


def _markdown(table: Section) -> str:
    title = [f"**{table.title}**", ""] if table.title else []
    lines = [_line(table.columns), "|---" * len(table.columns) + "|", *map(_line, table.rows)]
    return "\n".join([*title, *lines, *([""] if table.notes else []), *[" ".join(table.notes)] * bool(table.notes)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_LATEX = {c: f"\\{c}" for c in "&%_#${}"} | {
    "±": "$\\pm$",
    "<": "$<$",
    ">": "$>$",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "\\": "\\textbackslash{}",
}


def latex(tables: Sequence[Section]) -> str:
    """Tables for booktabs."""
    return "\n\n".join(_latex(t) for t in tables)


def _latex(table: Section) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join("".join(_LATEX.get(c, c) for c in cell) for cell in cells) + r" \\"

    caption = " ".join([f"{table.title}." if table.title else "", *table.notes]).strip()
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{@{{}}l{'c' * (len(table.columns) - 1)}@{{}}}}",
            r"\toprule",
            line(table.columns),
            r"\midrule",
            *map(line, table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{line([caption]).removesuffix(' ' + chr(92) * 2)}}}",
            r"\end{table}",
        ]
    )


def csv_lines(rows: Sequence[Sequence[object]]) -> str:
    """Rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().rstrip("\n")


def as_csv(results: Results) -> str:
    """Row, data set, labels, metric: mean, spread, seeds, the paper's number, and the lead with its interval.

    What only some experiments show has lines in those: the last step, and pseudo-labels.
    """
    facts = ("row", "title", "data", "labels", "part", "metric")
    numbers = ("mean", "std", "seeds", "wanted", "paper", "paper_std", "lead", "low", "high", "n", "distinguishable")
    rows: list[list[object]] = [[*facts, *numbers]]
    for e in results.entries.values():
        own: list[object] = [e.row, e.title, e.data, e.labels]
        for metric in METRICS:
            rows.append([*own, results.part, metric, *_numbers(results, e, metric)])
        for part, metric, values in _beyond(results, e):
            rows.append([*own, part, metric, *_summary(values), len(values), e.wanted, *[""] * 7])
    return csv_lines(rows)


def _beyond(results: Results, e: Entry) -> Iterator[tuple[str, str, Mapping[int, float]]]:
    """What an entry has in the experiment's further columns: part, metric, seed -> fraction."""
    if "last" in results.experiment.columns:
        yield results.part, "accuracy of the last step", e.values("accuracy", results.part, LAST)
    if "pseudo_labels" in results.experiment.columns:
        yield "pool", "share with a pseudo-label", e.pseudo_labels("share")
        yield "pool", "pseudo-labels that are right", e.pseudo_labels("accuracy")


def _numbers(results: Results, e: Entry, metric: str) -> list[object]:
    values = e.values(metric, results.part)
    paper = [*e.paper.get(metric, []), "", ""][:2]
    d = results.difference(e, metric)
    lead: list[object] = [*map(_percent, (d.mean, d.low, d.high)), d.n, d.is_real] if d else [""] * 5
    return [*_summary(values), len(values), e.wanted, *paper, *lead]


def _summary(values: Mapping[int, float]) -> list[object]:
    """Mean and spread, which a single value does not have."""
    numbers = list(values.values())
    return [
        _percent(np.mean(numbers)) if numbers else "",
        _percent(np.std(numbers)) if len(numbers) > 1 else "",
    ]


def _percent(fraction: float | np.floating) -> float:
    return round(100 * float(fraction), 4)
