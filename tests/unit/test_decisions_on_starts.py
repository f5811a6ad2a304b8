"""What the decisions say of how whole networks start, and of what they read of long texts, is in the result files."""

from dataclasses import replace

import numpy as np

from jointmatch.benchmark import Experiment, Results, load
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.results import spread
from jointmatch.benchmark.statistics import Difference, paired
from jointmatch.benchmark.table import NAMES, lead
from tests.unit.measured import KEPT, ROOT, page


def test_what_is_said_of_starts_that_may_be_kept_is_what_was_measured():
    text = page("decisions", "0014-a-start-that-may-be-kept.md")
    titles = {"supervised": "Supervised", "uda": "UDA", "fixmatch": "FixMatch", "jointmatch": "JointMatch"}

    def frozen(row: str, part: str) -> list[float]:
        return [run["scores"][part]["accuracy"] for run in KEPT.earlier("main_lite_end", row, "imdb", 10)]

    for row, title in titles.items():
        runs = KEPT.earlier("main_imdb", row, "imdb", 10)
        assert len(runs) == 5
        whole = spread([run["scores"]["test"]["accuracy"] for run in runs])
        assert f"| {title} | {whole} | {spread(frozen(row, 'test'))} |" in text
    one_class = {"jointmatch": 2, "fixmatch": 2}  # where the macro-F1 of two classes is near a third, one is never said
    for row, draws in one_class.items():
        runs = KEPT.earlier("main_imdb", row, "imdb", 10)
        assert sum(run["scores"]["test"]["macro_f1"] < 0.35 for run in runs) == draws
        assert sum(run["scores"]["test"]["accuracy"] < 0.56 for run in runs) == 4
        assert min(run["pseudo_labels"]["share"] for run in runs) > 0.86
    searched = {
        "Supervised": "supervised",
        "Supervised, heads not warm": "supervised, cold",
        "JointMatch, w_u 5 (recipe `best`)": "weight 5",
        "JointMatch, w_u 1": "weight 1",
        "JointMatch, w_u 1, tau 0.98": "sure",
        "JointMatch, w_u 1, heads not warm": "cold",
        "JointMatch, w_u 0.1": "weight 0.1",
        "JointMatch, w_u 0.1, tau 0.98, heads not warm": "cold, sure, light",
    }
    best = {}
    for title, row in searched.items():
        scores = [run["scores"]["dev"]["accuracy"] for run in KEPT.earlier("full_imdb", row, "imdb", 10)]
        assert len(scores) == 2
        assert f"| {title} | {spread(scores)} |" in text
        best[row] = np.mean(scores)
    start = frozen("jointmatch", "dev")
    assert f"({50 * (start[0] + start[1]):.1f} on frozen features)" in text
    assert max(best.values()) < (start[0] + start[1]) / 2


def test_what_gentler_training_is_worth_on_long_reviews_is_what_was_measured():
    text = page("decisions", "0014-a-start-that-may-be-kept.md")
    searched = {
        "Supervised": "supervised",
        "Supervised, rate 3e-5": "supervised, slow",
        "JointMatch, w_u 5 (recipe `best`, rate 1e-4)": "weight 5",
        "JointMatch, w_u 1": "weight 1",
        "JointMatch, w_u 0.1": "weight 0.1",
        "JointMatch, w_u 1, rate 3e-5": "weight 1, slow",
    }
    runs = {row: KEPT.earlier("full_imdb_ends", row, "imdb", 10) for row in searched.values()}
    for title, row in searched.items():
        assert f"| {title} | {spread([run['scores']['dev']['accuracy'] for run in runs[row]])} |" in text
        assert len(runs[row]) == 3
    usual = [run for row in ("weight 5", "weight 1", "weight 0.1") for run in runs[row]]
    assert sum(run["kept_step"] == 0 for run in usual) > len(usual) / 2
    lost = [100 * (run["history"]["dev_accuracy"][0] - run["history"]["dev_accuracy"][1]) for run in usual]
    assert f"cost up to {max(lost):.0f} points" in text
    curves = [run["history"]["dev_accuracy"] for run in runs["weight 1, slow"]]
    assert f"at most {100 * max(own[0] - min(own) for own in curves):.1f} is lost" in text
    assert all(max(own) > own[0] for own in curves)
    assert {run["kept_step"] for run in runs["weight 1, slow"]} == {350, 400}
    poorest = min(curves)
    assert f"({100 * poorest[0]:.1f} to {100 * max(poorest):.1f} where it is poorest)" in text


def test_what_a_slower_start_is_worth_is_what_was_measured():
    text = " ".join(page("decisions", "0017-a-slower-start.md").split())
    search = load(ROOT / "benchmarks" / "search" / "full_gentle.toml")
    runs = {
        row: {data: found for data in search.data if (found := KEPT.earlier("full_gentle", row, data, 10))}
        for row in search.variants
    }
    best: dict[str, dict[str, float]] = {row: {} for row in runs}
    last: dict[str, dict[str, float]] = {row: {} for row in runs}
    for row, sets in runs.items():
        for data, own in sets.items():
            assert [run["seed"] for run in own] == [0, 1, 2]
            curves = [run["history"]["dev_accuracy"] for run in own]
            best[row][data] = 100 * np.mean([max(curve) for curve in curves])
            last[row][data] = 100 * np.mean([curve[-1] for curve in curves])
        cells = [f"{best[row][d]:.1f} ({last[row][d]:.1f})" if d in sets else "" for d in search.data]
        said = {"as it is": "as it is (rate 1e-4, weight 5, 800 steps)", "1.5e-4, warm-up": "**1.5e-4, warm-up**"}
        assert " ".join(f"| {said.get(row, row)} | {' | '.join(cells)} |".split()) in text
    assert sum(run["history"]["dev_accuracy"][-1] < 0.51 for run in runs["as it is"]["imdb"]) == 2
    slow = [row for row in runs if "warm-up" in row]
    assert all(run["history"]["dev_accuracy"][-1] > 0.7 for row in slow for run in runs[row]["imdb"])
    gained = [last[row]["imdb"] - last["as it is"]["imdb"] for row in slow]
    assert f"at the last step is {min(gained):.0f} to {max(gained):.0f} points higher than without" in text
    rates = ["1.5e-4, warm-up", "warm-up of 50 steps", "warm-up", "warm-up, falling", "5e-5, warm-up, falling"]
    for data, rows in (("hurricane", rates), ("goemotions", rates[:-1])):
        assert [best[row][data] for row in rows] == sorted((best[row][data] for row in rows), reverse=True)
    for rate, losses in (("", (-0.7, 0.0)), ("5e-5, ", (-1.75, 0.0))):
        light, heavy = (best[f"{rate}warm-up, falling{weight}"] for weight in (", weight 1", ""))
        changes = [light[data] - heavy[data] for data in light]
        assert losses[0] < min(changes) < max(changes) < losses[1]
    chosen, four = best["1.5e-4, warm-up"], list(search.data)[:4]
    means = {row: np.mean([own[d] for d in four]) for row, own in best.items() if set(four) <= set(own)}
    assert max(means, key=means.__getitem__) == "1.5e-4, warm-up"
    long = [own for row, own in best.items() if "1,600" in row and "weight 1" not in row]
    beyond = {data: max(own[data] for own in long) - chosen[data] for data in four}
    assert f"gain {beyond['imdb']:.1f} on IMDB and {beyond['ag_news']:.1f} on AG News" in text
    assert max(beyond["hurricane"], beyond["goemotions"]) < 0

    def ahead(other: str, data: str) -> Difference:
        one, two = (
            {run["seed"]: max(run["history"]["dev_accuracy"]) for run in runs[row][data]} for row in (rates[0], other)
        )
        difference = paired(one, two)
        assert difference is not None
        return difference

    assert not any(ahead("warm-up", data).is_real for data in search.data)
    real = {data: change for data in four if (change := ahead("as it is", data)).is_real}
    assert list(real) == ["hurricane"]
    assert f"only on Hurricane ({lead(real['hurricane'])})" in text
    assert f"AG News is {-100 * ahead('as it is', 'ag_news').mean:.1f} lower" in text


def test_what_the_check_of_a_slower_start_says_is_what_was_measured():
    text = " ".join(page("decisions", "0017-a-slower-start.md").split())
    check = load(ROOT / "benchmarks" / "search" / "full_gentle_check.toml")
    five = replace(check, seeds=list(range(5)))
    ends: dict[str, list[tuple[float, float]]] = {}
    after: dict[str, float] = {}
    for data in check.data:
        experiment = five if data == "ag_news" else check
        curves = {row: _curves(experiment, row, data) for row in ("as it is", "1.5e-4, warm-up")}
        if data == "ag_news":  # as it is, it is the main comparison's
            found = Results(load("main").on_sets([data]), KEPT).entries["jointmatch", data, 10]
            curves["as it is"] = [record["history"]["dev_accuracy"] for record in found.records]
        own = [
            (100 * float(np.mean([max(c) for c in found])), 100 * float(np.mean([c[-1] for c in found])))
            for found in curves.values()
            if found
        ]
        cells = [f"{best:.1f} ({last:.1f})" for best, last in own] + [""] * (2 - len(own))
        assert " ".join(f"| {NAMES[data]} | {' | '.join(cells)} |".split()) in text
        if len(own) == 2:
            ends[data] = own
        if data == "sms_spam":
            after = {row: 100 * float(np.mean([c[1] for c in found])) for row, found in curves.items()}
            assert all(new[-1] < old[-1] for old, new in zip(*curves.values(), strict=True))
    means = np.mean(list(ends.values()), axis=0)
    assert "| mean of those with both | {:.1f} ({:.1f}) | {:.1f} ({:.1f}) |".format(*means.ravel()) in text
    gains = {data: new[1] - old[1] for data, (old, new) in ends.items()}
    assert -6.1 < gains.pop("sms_spam") < -5.9
    assert sorted(gains) == ["ag_news", "disaster_tweets", "film_sentences", "reuters8"]
    assert min(gains.values()) > -0.1
    assert f"by up to {max(gains.values()):.1f} points" in text
    assert (
        f"dev is at {after['1.5e-4, warm-up']:.1f} on average; the recipe as it is has {after['as it is']:.1f}" in text
    )


def _curves(experiment: Experiment, row: str, data: str) -> list[list[float]]:
    found = [KEPT.find(cell) for cell in cells_of(experiment, row, data, 10)]
    return [record["history"]["dev_accuracy"] for record in found if record is not None]


def test_half_as_many_tokens_of_long_reviews_do():
    text = page("decisions", "0015-both-ends-of-long-texts.md")
    now = Results(load("main_lite"), KEPT)
    for row, said in (
        ("jointmatch", "JointMatch has {} on dev, against {}"),
        ("supervised", "supervised training {}, against {}"),
    ):
        fewer = [run["scores"]["dev"]["accuracy"] for run in KEPT.earlier("main_lite_128", row, "imdb", 10)]
        assert said.format(spread(fewer), spread(now.entries[row, "imdb", 10].values(part="dev"))) in text


def test_the_table_of_what_is_read_of_long_texts_is_what_was_measured():
    text = page("decisions", "0015-both-ends-of-long-texts.md")
    rows = {"main_lite": ("imdb", "IMDB", 6), "other_lite": ("newsgroups", "20 newsgroups", 4)}
    for name, (data, said, count) in rows.items():
        now = Results(load(name), KEPT)
        shown = [row for row in now.experiment.variants if f"| {said}: {now.experiment.variants[row].title} |" in text]
        assert len(shown) == count
        for row in shown:
            runs = KEPT.earlier(f"{name}_end", row, data, 10)
            before = {run["seed"]: run["scores"]["dev"]["accuracy"] for run in runs}
            after = now.entries[row, data, 10].values(part="dev")
            change = paired(after, before)
            assert change is not None
            assert change.n == 5
            told = f"{100 * change.mean:+.2f} [{100 * change.low:+.2f}, {100 * change.high:+.2f}]"
            assert f"{now.experiment.variants[row].title} | {spread(before)} | {spread(after)} | {told} |" in text


def test_the_table_of_the_other_methods_weights_in_full_is_what_was_measured():
    text = page("decisions", "0014-a-start-that-may-be-kept.md")
    sets = {"ag_news": "algorithms_full", "hurricane": "full_weights", "goemotions": "full_weights"}
    names = ("UDA", "MixText", "FixMatch", "SAT", "FreeMatch", "SoftMatch")
    for title in names:
        cells = []
        means = []
        for weight in (1.0, 5.0, 20.0):
            row = f"{title.lower()}, unlabeled_weight {weight}"
            found = [KEPT.earlier(search, row, data, 10) for data, search in sets.items()]
            assert [len(own) for own in found] == [2, 2, 2]
            own = [100 * np.mean([run["scores"]["dev"]["accuracy"] for run in runs]) for runs in found]
            means.append(np.mean(own))
            cells.append(f"{means[-1]:.1f} ({', '.join(f'{value:.1f}' for value in own)})")
        assert f"| {title} | {' | '.join(cells)} |" in text
        assert means[0] > max(means) - 0.05
