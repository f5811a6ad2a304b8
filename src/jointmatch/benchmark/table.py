"""Results as tables: sections of cells, written as Markdown or LaTeX, and every number on a line of its own as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from jointmatch.benchmark.experiment import METRICS
from jointmatch.benchmark.results import LAST, Entry, Results, spread
from jointmatch.benchmark.statistics import Difference

NOT_RUN = "not run"
NAMES = {
    "ag_news": "AG News",
    "imdb": "IMDB",
    "yahoo_answers": "Yahoo! Answers",
    "goemotions": "GoEmotions",
    "empatheticdialogues": "Empathetic Dialogues",
    "hurricane": "Hurricane",
    "threecrises": "Three crises",
    "demo": "The corpus inside the package",
}
METRIC_NAMES = {"accuracy": "accuracy", "macro_f1": "macro-F1"}


@dataclass(frozen=True)
class Section:
    """One table."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)


def sections(results: Results, data: str | None = None) -> list[Section]:
    """A table for each data set, or for the one named: rows by labels where there are several counts."""
    found = []
    for name, counts in results.experiment.data.items():
        if data in (None, name):
            found += _by_labels(results, name) if len(counts) > 1 else [_one_count(results, name, counts[0])]
    return found


def _one_count(results: Results, data: str, labels: int) -> Section:
    """Every method with its numbers side by side."""
    entries = results.rows(data, labels)
    columns = [column for name in results.experiment.columns for column in _columns(name, results, entries)]
    heading = f"{results.part}, {labels} labels per class"
    return Section(
        NAMES.get(data, data),
        [heading, *(title for title, _ in columns)],
        [[entry.title, *(cell(entry) for _, cell in columns)] for entry in entries],
        notes(results, entries),
    )


Column = tuple[str, Callable[[Entry], str]]


def _columns(name: str, results: Results, entries: Sequence[Entry]) -> list[Column]:
    part, experiment = results.part, results.experiment
    if name in METRICS:
        chosen = "last" in experiment.columns and name == "accuracy" and any(e.values(part="dev") for e in entries)
        title = f"{'chosen on dev: ' if chosen else ''}{METRIC_NAMES[name]}"
        return [(title, lambda e: _spread(e.values(name, part)))]
    if name == "last":
        return [("last step: accuracy", lambda e: _spread(e.values("accuracy", part, LAST)))]
    if name == "pseudo_labels":
        return [
            (f"pseudo-labels: {title}", lambda e, what=what: _spread(e.pseudo_labels(what), none="-"))  # type: ignore[misc]
            for what, title in (("share", "share of the pool"), ("accuracy", "right"))
        ]
    if name == "paper":
        metrics = [metric for metric in METRICS if any(metric in e.paper for e in entries)]
        return [(f"paper: {METRIC_NAMES[m]}", lambda e, m=m: _paper(e, m)) for m in metrics]  # type: ignore[misc]
    if name == "lead":
        if experiment.against is None:
            return []
        title = experiment.variants[experiment.against].title
        return [(f"{title} ahead by", lambda e: lead(results.difference(e)))]
    return [("seeds", lambda e: _seeds(e))]


def _by_labels(results: Results, data: str) -> list[Section]:
    """One table for each metric, a column for each count of labels, and one of leads."""
    counts = results.experiment.data[data]
    entries = {labels: {e.row: e for e in results.rows(data, labels)} for labels in counts}
    first = list(entries[counts[0]].values())
    every = [e for by_row in entries.values() for e in by_row.values()]

    def section(title: str, cell: Callable[[Entry], str]) -> Section:
        rows = [[e.title, *(cell(entries[labels][e.row]) for labels in counts)] for e in first]
        return Section(f"{NAMES.get(data, data)}, {title}", ["labels per class", *map(str, counts)], rows)

    found = [section("accuracy", lambda e: _beside(e, results.part, "accuracy"))]
    if any(e.records for e in every):
        found.append(section("macro-F1", lambda e: _beside(e, results.part, "macro_f1")))
    against = results.experiment.against
    if against is not None and any(results.difference(e) for e in every):
        title = f"accuracy, {results.experiment.variants[against].title} ahead by"
        found.append(section(title, lambda e: lead(results.difference(e))))
    found[-1] = Section(found[-1].title, found[-1].columns, found[-1].rows, notes(results, every))
    return found


def notes(results: Results, entries: Sequence[Entry]) -> list[str]:
    """What a reader must know of the numbers."""
    lines = []
    if any(e.records for e in entries):
        backbones = " and ".join(results.backbones()) or "minilm"
        lines.append(f"Backbone {backbones}; made on {' and '.join(results.machines())}.")
    if any(e.paper for e in entries):
        lines.append("The paper's numbers are with BERT-base.")
    if any(e.earlier for e in entries):
        lines.append("Made before results kept all of their settings: under the recipe of that time.")
    return lines


def _spread(values: dict[int, float], none: str = NOT_RUN) -> str:
    return spread(values) if values else none


def _paper(entry: Entry, metric: str) -> str:
    numbers = entry.paper.get(metric)
    return "" if numbers is None else f"{numbers[0]:.2f}" + (f" ± {numbers[1]:.1f}" if len(numbers) > 1 else "")


def _beside(entry: Entry, part: str, metric: str) -> str:
    """Ours, how many seeds if not all, and the paper's."""
    values = entry.values(metric, part)
    seeds = f", {len(values)} of {entry.wanted} seeds" if values and len(values) < entry.wanted else ""
    paper = _paper(entry, metric)
    return f"{_spread(values)}{seeds}" + (f" (paper {paper})" if paper else "")


def lead(difference: Difference | None) -> str:
    """A difference in percent with its interval, and a word where it may be none."""
    if difference is None:
        return ""
    mean, low, high = (f"{100 * value:+.2f}" for value in (difference.mean, difference.low, difference.high))
    word = "" if difference.is_real else ", not distinguishable"
    return f"{mean} [{low}, {high}], n {difference.n}{word}"


def _seeds(entry: Entry) -> str:
    done = len(entry.records)
    return str(done) if done >= entry.wanted else f"{done} of {entry.wanted}"


def crossed(results: Results, data: str, labels: int) -> Section:
    """Variants called "weak A, strong B" as a table of weak views by strong ones, dev / test accuracy in each cell."""
    pairs = {e.row: e.row.removeprefix("weak ").split(", strong ", 1) for e in results.rows(data, labels)}
    strong = list(dict.fromkeys(b for _, b in pairs.values()))
    rows = []
    for a in dict.fromkeys(a for a, _ in pairs.values()):
        found = {b: results.entries[row, data, labels] for row, (weak, b) in pairs.items() if weak == a}
        cells = [
            " / ".join(_spread(found[b].values(part=p)) for p in ("dev", "test")) if b in found else "" for b in strong
        ]
        rows.append([f"weak {a}", *cells])
    return Section("", ["dev / test", *(f"strong {b}" for b in strong)], rows)


def markdown(tables: Sequence[Section]) -> str:
    """Tables one below the other, each under its title."""
    return "\n\n".join(_markdown(t) for t in tables)


def _markdown(table: Section) -> str:
    title = [f"**{table.title}**", ""] if table.title else []
    lines = [_line(table.columns), "|---" * len(table.columns) + "|", *map(_line, table.rows)]
    return "\n".join([*title, *lines, *([""] if table.notes else []), *[" ".join(table.notes)] * bool(table.notes)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_LATEX = {"&": "\\&", "%": "\\%", "_": "\\_", "#": "\\#", "$": "\\$", "{": "\\{", "}": "\\}", "±": "$\\pm$"}


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


def as_csv(results: Results) -> str:
    """Row, data set, labels, metric: mean, spread, seeds, the paper's number, and the lead with its interval."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    facts = ("row", "title", "data", "labels", "part", "metric")
    numbers = ("mean", "std", "seeds", "wanted", "paper", "paper_std", "lead", "low", "high", "n", "distinguishable")
    writer.writerow([*facts, *numbers])
    for e in results.entries.values():
        for metric in METRICS:
            writer.writerow([e.row, e.title, e.data, e.labels, results.part, metric, *_numbers(results, e, metric)])
    return out.getvalue().rstrip("\n")


def _numbers(results: Results, e: Entry, metric: str) -> list[object]:
    values = list(e.values(metric, results.part).values())
    paper = [*e.paper.get(metric, []), "", ""][:2]
    d = results.difference(e, metric)
    lead: list[object] = [*map(_percent, (d.mean, d.low, d.high)), d.n, d.is_real] if d else [""] * 5
    own = [_percent(np.mean(values)), _percent(np.std(values))] if values else ["", ""]
    return [*own, len(values), e.wanted, *paper, *lead]


def _percent(fraction: float | np.floating) -> float:
    return round(100 * float(fraction), 4)
