"""How much of the paper's ranking was reproduced: each lead it reports, and ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from jointmatch.benchmark.formats import Section
from jointmatch.benchmark.results import Results
from jointmatch.benchmark.statistics import Difference
from jointmatch.benchmark.table import NAMES, NOT_RUN, lead

SAME, OTHER, OPEN = "as in the paper", "the other way round", "not distinguishable"


@dataclass(frozen=True)
class Claim:
    """One comparison in the paper's table."""

    what: str
    paper: float  # the reported lead, as a fraction
    ours: Difference | None

    @property
    def verdict(self) -> str:
        """The verdict in words, or that the comparison was not run."""
        if self.ours is None:
            return NOT_RUN
        if not self.ours.is_real:
            return OPEN
        return SAME if (self.ours.mean > 0) == (self.paper > 0) else OTHER


def claims(results: Results) -> list[Claim]:
    """The paper's leads of the row that others are compared with over each other row in the paper."""
    found = []
    for entry in results.entries.values():
        paper = results.paper_difference(entry)
        if paper is not None:
            against = results.experiment.variants[results.experiment.against or ""].title
            place = f"{NAMES.get(entry.data, entry.data)}, {entry.labels} labels"
            found.append(Claim(f"{against} and {entry.title} ({place})", paper, results.difference(entry)))
    return found


def verdict_table(results: Results) -> Section:
    """Every comparison that has been run, and how many have not."""
    every = claims(results)
    ran = [claim for claim in every if claim.ours is not None]
    counts = Counter(claim.verdict for claim in every)
    tally = ", ".join(f"{counts[word]} {word}" for word in (SAME, OTHER, OPEN, NOT_RUN) if counts[word])
    rows = [[c.what, f"{100 * c.paper:+.2f}", lead(c.ours), c.verdict] for c in ran]
    note = (
        f"Of {len(every)} comparisons in the paper's table: {tally}." if every else "The paper compares nothing here."
    )
    return Section("", ["first ahead of second by", "paper", "ours (95 % interval)", "verdict"], rows, [note])
