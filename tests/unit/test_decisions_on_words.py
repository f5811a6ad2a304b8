"""What the decision on the word reader says is in the result files."""

from collections.abc import Sequence

import numpy as np

from jointmatch.benchmark import Results, load
from jointmatch.benchmark.results import spread
from jointmatch.benchmark.statistics import paired
from jointmatch.benchmark.store import Record
from jointmatch.benchmark.table import NAMES, lead
from tests.unit.measured import KEPT, README, ROOT, page, result


def test_what_words_bring_beside_networks_is_what_was_measured():
    text = page("decisions", "0016-a-word-reader.md")
    found = Results(load(str(ROOT / "benchmarks" / "search" / "lite_words.toml")), KEPT)
    changes = []
    for data in found.experiment.data:
        alone, both = (
            found.entries[row, data, 10].values(part="dev") for row in ("networks alone", "networks and words")
        )
        changes.append(paired(both, alone))
        assert f"| {NAMES.get(data, data)} | {spread(alone)} | {spread(both)} | {lead(changes[-1])} |" in text
    assert len(changes) == 12
    real = [change for change in changes if change is not None and change.is_real]
    rest = [change.mean for change in changes if change is not None and not change.is_real]
    assert min(change.low for change in real) > 0
    assert (len(real), len(rest)) == (9, 3)
    assert max(rest) < 0
    gain, costs = 100 * max(c.mean for c in real), (-100 * max(rest), -100 * min(rest))
    assert f"by up to {gain:.1f} points, and cost {costs[0]:.1f} to {costs[1]:.2f} on three" in README
    assert f"all three means are lower, by {costs[0]:.1f} to {costs[1]:.2f}" in text


def test_what_words_bring_beside_whole_networks_is_what_was_measured():
    text = page("decisions", "0016-a-word-reader.md")
    search = load(str(ROOT / "benchmarks" / "search" / "full_average.toml"))
    runs = {d: KEPT.earlier("full_average", "1.5e-4, full decay from the first step", d, 10) for d in search.data}
    pairs = {
        data: (of_part(own, "scores_of_networks", "dev"), of_part(own, "scores", "dev")) for data, own in runs.items()
    }
    found = {data: change for data, (alone, both) in pairs.items() if (change := paired(both, alone))}
    for data, (alone, both) in pairs.items():
        assert f"| {NAMES[data]} | {spread(alone)} | {spread(both)} | {lead(found[data])} |" in text
    assert len(found) == 10
    assert sum(change.mean > 0 for change in found.values()) == 7
    assert sum(change.low > 0 for change in found.values()) == 5
    losers = [data for data, change in found.items() if change.mean < 0]
    assert losers == ["reuters8", "disaster_tweets", "film_sentences"]
    assert [data for data, change in found.items() if change.high < 0] == ["reuters8", "film_sentences"]
    lite = Results(load(str(ROOT / "benchmarks" / "search" / "lite_words.toml")), KEPT)
    for data in losers:
        assert words_bring(lite, data) < 0
    gains = [100 * change.mean for change in found.values()]
    readme = " ".join(README.split())
    assert (
        f"seven of ten sets gain, by up to {max(gains):.1f} points, and three lose 0.6 to {-min(gains):.1f}" in readme
    )
    assert 0.55 < min(-100 * found[data].mean for data in losers) < 0.65
    said = " ".join(text.split())
    assert f"The mean over the ten is {100 * np.mean([change.mean for change in found.values()]):+.2f}." in said
    unused = [data for data in search.data if data not in ("imdb", "hurricane", "goemotions")]
    assert f"that mean is {100 * np.mean([found[data].mean for data in unused]):+.2f}." in said
    many = dict.fromkeys(("empatheticdialogues", "goemotions", "hurricane"), "classes")
    for data, name in {"ag_news": "main", "imdb": "main", **many}.items():
        shown = Results(load(name), KEPT)
        alone, both = (shown.entries[row, data, 10].values() for row in ("jointmatch", "jointmatch, and words"))
        assert f"| {NAMES[data]} | {spread(alone)} | {spread(both)} | {lead(paired(both, alone))} |" in text


def words_bring(found: Results, data: str) -> float:
    alone, both = (found.entries[row, data, 10].values(part="dev") for row in ("networks alone", "networks and words"))
    change = paired(both, alone)
    assert change is not None
    return change.mean


def of_part(runs: Sequence[Record], of: str, part: str) -> dict[int, float]:
    """Seed -> accuracy."""
    return {run["seed"]: run[of][part]["accuracy"] for run in runs}


def test_what_the_page_about_words_says_of_its_constants_and_rounds_is_what_was_measured():
    text = page("decisions", "0016-a-word-reader.md")
    sets = result("word_reader")["sets"]
    assert len(sets) == 12
    shown = {f"taught by {size:,}": f"{size} texts" for size in (500, 1000, 5000)}
    shown["taught by 250 texts of the pool"] = "250 texts"
    names = [
        *("half of each class", "all of each class", "given labels count once", "given labels count twenty times"),
        *("strength 1", "strength 10", "single words", "arithmetic mean", "words alone"),
        *("round 1", "round 2", "round 3"),
    ]
    for said, name in (shown | dict(zip(names, names, strict=True))).items():
        changes = [100 * (np.mean(own[name]) - np.mean(own["as it is"])) for own in sets.values() if name in own]
        bounds = f"{min(changes):+.2f} to {max(changes):+.2f}"
        assert f"| {said} | {np.mean(changes):+.2f} | {bounds} | {len(changes)} |" in text
    errors = [
        100 * np.mean([np.mean(own[f"calibration error, {who}"]) for own in sets.values()])
        for who in ("both", "networks")
    ]
    said = "is {:.1f} on average where the networks alone have {:.1f}, in points".format(*errors)
    assert said in " ".join(text.split())
    gains = [
        100 * np.mean(np.subtract(own["calibration error, networks"], own["calibration error, both"]))
        for own in sets.values()
    ]
    assert (sum(gain > 0 for gain in gains), sum(-2 < gain < -1 for gain in gains)) == (10, 2)
    seconds = [np.mean(own["seconds"]) for own in sets.values()]
    assert f"{min(seconds):.1f} to {max(seconds):.0f} seconds on the sets above" in text
    once = sorted(100 * (np.mean(own["round 1"]) - np.mean(own["as it is"])) for own in sets.values())
    gained = sum(change > 0.5 for change in once)
    assert f"over half a point on {gained} sets and loses {-once[1]:.1f} and {-once[0]:.1f} points on two" in text
    assert once[2] > -0.5


def test_the_table_of_what_class_shares_are_worth_is_what_was_measured():
    text = page("decisions", "0016-a-word-reader.md")
    sets = result("word_reader")["sets"].values()
    names = ["class shares not at all", "class shares by half", "class shares in full"]
    for said, start in (("as it is", ""), ("half of the classes lacking", "lacking: "), ("10 : 1", "10 : 1: ")):
        alone, *shares = (over_seeds([rows[start + name] for rows in sets]) for name in ("networks alone", *names))
        cells = [f"{100 * found.mean():.1f} ({100 * (found - alone).min():+.1f})" for found in shares]
        assert f"| {said} | {100 * alone.mean():.1f} | {' | '.join(cells)} | {len(alone)} |" in text


def over_seeds(sets: list[list[float | None]]) -> np.ndarray:
    """The mean of each set; a seed that left too few texts has none, nor has a set of which each did."""
    kept = [[value for value in values if value is not None] for values in sets]
    return np.array([np.mean(values) for values in kept if values])


def test_fixmatch_s_rule_gains_by_words_on_most_sets_too_and_one_set_loses_on_test():
    brought = {}
    for name, rows in (("main_lite", ["ag_news", "imdb"]), ("classes_lite", None), ("other_lite", None)):
        found = Results(load(name), KEPT)
        for data in rows or found.experiment.data:
            for rule in ("fixmatch", "jointmatch"):
                own, both = (found.entries[row, data, 10].values() for row in (rule, f"{rule}, and words"))
                brought[rule, data] = paired(both, own)
    gained = [change.mean > 0 for (rule, _), change in brought.items() if rule == "fixmatch" and change is not None]
    assert sum(gained) > 0.7 * len(gained)
    ours = {data: change for (rule, data), change in brought.items() if rule == "jointmatch" and change is not None}
    assert [data for data, change in ours.items() if change.is_real and change.mean < 0] == ["reuters8"]
    text = " ".join(page("decisions", "0016-a-word-reader.md").split())
    assert f"Reuters-8's loss of {-100 * ours['reuters8'].mean:.1f} points" in text
