"""Results as tables, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jointmatch.benchmark.experiment import METRICS
from jointmatch.benchmark.formats import Section
from jointmatch.benchmark.outcome import start_kept
from jointmatch.benchmark.results import LAST, Entry, Results, backbones, devices, spread
from jointmatch.benchmark.statistics import Difference
from jointmatch.benchmark.store import Record

NOT_RUN = "not run"
NAMES = {
    "ag_news": "AG News",
    "imdb": "IMDB",
    "yahoo_answers": "Yahoo! Answers",
    "goemotions": "GoEmotions",
    "empatheticdialogues": "Empathetic Dialogues",
    "hurricane": "Hurricane",
    "threecrises": "Three crises",
    "disaster_tweets": "Disaster tweets",
    "film_sentences": "Film sentences",
    "newsgroups": "20 newsgroups",
    "reuters8": "Reuters-8",
    "sms_spam": "SMS spam",
    "trec": "TREC",
    "demo": "The corpus inside the package",
}
METRIC_NAMES = {"accuracy": "accuracy", "macro_f1": "macro-F1"}


def sections(results: Results, data: str | None = None) -> list[Section]:
    """A table per data set, or for the one named only: rows by labels if there are several counts."""
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
        notes(entries, "paper" in results.experiment.columns),
    )


Column = tuple[str, Callable[[Entry], str]]


def _columns(name: str, results: Results, entries: Sequence[Entry]) -> list[Column]:
    part, experiment = results.part, results.experiment
    if name in METRICS:
        chosen = "last" in experiment.columns and name == "accuracy" and any(e.values(part="dev") for e in entries)
        title = f"{'chosen on dev: ' if chosen else ''}{METRIC_NAMES[name]}"
        return [(title, lambda e: _spread(e.values(name, part)))]
    if name == "last":
        return [
            ("last step: accuracy", lambda e: _spread(e.values("accuracy", part, LAST), "" if e.records else NOT_RUN))
        ]
    if name == "pseudo_labels":
        return [
            (f"pseudo-labels: {title}", lambda e, what=what: _of_some(e, e.pseudo_labels(what)))  # type: ignore[misc]
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
    """One table per metric, with a column for each label count, and one of leads."""
    counts = results.experiment.data[data]
    entries = {labels: {e.row: e for e in results.rows(data, labels)} for labels in counts}
    first = list(entries[counts[0]].values())
    every = [e for by_row in entries.values() for e in by_row.values()]

    def section(title: str, cell: Callable[[Entry], str]) -> Section:
        rows = [[e.title, *(cell(entries[labels][e.row]) for labels in counts)] for e in first]
        heading = f"{results.part}, labels per class"
        return Section(f"{NAMES.get(data, data)}, {title}", [heading, *map(str, counts)], rows)

    found = [section("accuracy", lambda e: _beside(e, results.part, "accuracy"))]
    if any(e.records for e in every):
        found.append(section("macro-F1", lambda e: _beside(e, results.part, "macro_f1")))
    against = results.experiment.against
    if against is not None and any(results.difference(e) for e in every):
        title = f"accuracy, {results.experiment.variants[against].title} ahead by"
        found.append(section(title, lambda e: lead(results.difference(e))))
    found[-1] = Section(found[-1].title, found[-1].columns, found[-1].rows, notes(every))
    return found


def notes(entries: Sequence[Entry], beside_paper: bool = True) -> list[str]:
    """What a reader must know about the numbers."""
    lines, records = [], [record for entry in entries for record in entry.records]
    if records:
        read = " and ".join(backbones(records)) or "minilm"
        lines.append(f"Backbone {read}; made on {' and '.join(devices(records))}.")
    if beside_paper and any(e.paper for e in entries):
        lines.append("The paper's numbers are with BERT-base.")
    if any(e.earlier for e in entries):
        lines.append("Some or all were made earlier, under the recipe of that time.")
    if blind := list(dict.fromkeys(e.title for e in entries if any(map(_start_unseen, e.records)))):
        lines.append(f"Run when networks with warm heads were first scored after some steps: {'; '.join(blind)}.")
    if kept := _counted(entries, start_kept):
        lines.append(
            f"Runs that kept the heads on frozen features they start with, as no step was better on dev: {kept}."
        )
    return lines


def _counted(entries: Sequence[Entry], holds: Callable[[Record], bool]) -> str:
    """The rows with a run of which something holds, and of how many it does."""
    found: dict[str, list[bool]] = {}
    for entry in entries:
        found.setdefault(entry.title, []).extend(map(holds, entry.records))
    return "; ".join(f"{title} ({sum(runs)} of {len(runs)})" for title, runs in found.items() if any(runs))


def _start_unseen(record: Record) -> bool:
    """Whether the start could not be kept as a checkpoint, as it can be by now."""
    training, steps = record.get("settings", {}).get("training", {}), record.get("history", {}).get("step")
    return bool(training.get("mode") == "full" and training.get("warm_start") and steps and steps[0] > 0)


def _spread(values: dict[int, float], none: str = NOT_RUN) -> str:
    return spread(values) if values else none


def _of_some(entry: Entry, values: dict[int, float]) -> str:
    """Mean and spread, with the number of seeds that have such a value if not all do."""
    few = f", {len(values)} of {len(entry.records)} seeds" if 0 < len(values) < len(entry.records) else ""
    return _spread(values, none="-") + few


def _paper(entry: Entry, metric: str) -> str:
    numbers = entry.paper.get(metric)
    return "" if numbers is None else f"{numbers[0]:.2f}" + (f" ± {numbers[1]:.1f}" if len(numbers) > 1 else "")


def _beside(entry: Entry, part: str, metric: str) -> str:
    """Our result, the number of seeds if not all are done, and the paper's."""
    values = entry.values(metric, part)
    seeds = f", {len(values)} of {entry.wanted} seeds" if values and len(values) < entry.wanted else ""
    paper = _paper(entry, metric)
    return f"{_spread(values)}{seeds}" + (f" (paper {paper})" if paper else "")


def lead(difference: Difference | None) -> str:
    """A difference in percent with its interval, and a note if it is not distinguishable."""
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
