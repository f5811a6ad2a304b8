"""What the decisions say of how whole networks start, and of what they read of long texts, is in the result files."""

import numpy as np

from jointmatch.benchmark import Results, load
from jointmatch.benchmark.results import spread
from jointmatch.benchmark.statistics import Difference, paired
from jointmatch.benchmark.table import NAMES, lead
from jointmatch.networks import decay_within
from jointmatch.resolve import resolve
from tests.unit.measured import KEPT, README, ROOT, page


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
        "JointMatch, w_u 5 (recipe `best` of then)": "weight 5",
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
        "JointMatch, w_u 5 (recipe `best` of then, rate 1e-4)": "weight 5",
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
    text = " ".join(page("decisions", "0017-the-first-steps.md").split())
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
        said = {"as it is": "as it was (rate 1e-4, weight 5, 800 steps)", "1.5e-4, warm-up": "**1.5e-4, warm-up**"}
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


AVERAGE = load(ROOT / "benchmarks" / "search" / "full_average.toml")
CHOSEN, SOONER = "1.5e-4, full decay from the first step", "1.5e-4, decay 0.97 from the first step"


def runs_of(found: dict[str, list[list[float]]]) -> list[float]:
    """Accuracy at the last step of every run, set by set."""
    return [course[-1] for own in found.values() for course in own]


def lead_of(one: list[float], other: list[float]) -> tuple[float, str]:
    """The mean lead of one list of runs over another, in points, and the rest of how it is written."""
    change = paired(dict(enumerate(one)), dict(enumerate(other)))
    assert change is not None
    return 100 * change.mean, lead(change).split(" ", 1)[1].removesuffix(", not distinguishable")


def courses(row: str, data: str) -> list[list[float]]:
    """Accuracy of the networks alone on dev at every evaluation, by seed."""
    runs = KEPT.earlier("full_average", row, data, 10)
    if not runs and (row, data) == ("as it is", "ag_news"):  # as it was, it was the main comparison's
        runs = KEPT.earlier("main", "jointmatch", data, 10)[:3]
    assert [run["seed"] for run in runs] in ([], [0, 1, 2])
    return [run["history"]["dev_accuracy"] for run in runs]


def test_what_an_average_that_keeps_the_start_is_worth_is_what_was_measured():
    text = " ".join(page("decisions", "0017-the-first-steps.md").split())
    found = {row: {data: own for data in AVERAGE.data if (own := courses(row, data))} for row in AVERAGE.variants}
    best = {row: {d: 100 * float(np.mean([max(c) for c in own])) for d, own in of.items()} for row, of in found.items()}
    last = {row: {d: 100 * float(np.mean([c[-1] for c in own])) for d, own in of.items()} for row, of in found.items()}
    for data in AVERAGE.data:
        cells = [f"{best[row][data]:.1f} ({last[row][data]:.1f})" if data in best[row] else "" for row in found]
        assert " ".join(f"| {NAMES[data]} | {' | '.join(cells)} |".split()) in text
    six = list(AVERAGE.data)[:6]
    for sets, said in ((six, "mean of the first six"), (list(AVERAGE.data), "mean of all")):
        means = {
            row: [float(np.mean([of[row][data] for data in sets])) for of in (best, last)]
            for row in found
            if set(sets) <= set(best[row])
        }
        cells = ["{:.2f} ({:.2f})".format(*means[row]) if row in means else "" for row in found]
        assert " ".join(f"| {said} | {' | '.join(cells)} |".split()) in text
    allowed = [row for row, (top, _) in means.items() if top >= means["as it is"][0]]
    assert max(allowed, key=lambda row: means[row][1]) == CHOSEN  # the file's rule
    resolved = resolve({"training": {"recipe": "best"}}, "full").training
    assert (resolved.learning_rate, resolved.average_decay, resolved.average_warmup) == (1.5e-4, 0.99, False)
    gains = {data: last[CHOSEN][data] - last["as it is"][data] for data in AVERAGE.data}
    now, before = runs_of(found[CHOSEN]), runs_of(found["as it is"])
    over_all, elsewhere = lead_of(now, before), lead_of(now[3:], before[3:])  # IMDB comes first
    assert next(iter(AVERAGE.data)) == "imdb"
    assert f"its mean is {over_all[0]:.1f} points above the recipe as it was ({over_all[1]})" in text
    assert f"without IMDB it is {elsewhere[0]:+.2f} ({elsewhere[1]})." in text
    for data in (data for data, gain in gains.items() if gain < -0.5):
        lost = lead_of(runs_of({data: found[CHOSEN][data]}), runs_of({data: found["as it is"][data]}))
        assert (f"GoEmotions is so at the last ({lost[0]:+.2f} {lost[1]})" in text) == (data == "goemotions")
    for data in ("newsgroups", "sms_spam", "hurricane", "goemotions"):
        now_best, best_before = (dict(enumerate(map(max, found[row][data]))) for row in (CHOSEN, "as it is"))
        change = paired(now_best, best_before)
        assert change is not None
        assert not change.is_real
    assert 5.9 < last["as it is"]["sms_spam"] - last["1.5e-4, warm-up"]["sms_spam"] < 6.1
    costs = {data: best["as it is"][data] - best[CHOSEN][data] for data in AVERAGE.data}
    dear = {data: cost for data, cost in costs.items() if cost > 0.5}
    assert list(dear) == ["newsgroups", "sms_spam", "hurricane", "goemotions"]
    assert f"are {min(dear.values()):.1f} to {max(dear.values()):.1f} lower at the best step" in text
    assert max(cost for data, cost in costs.items() if data not in dear) < 0.35
    assert f"GoEmotions gains {best[SOONER]['goemotions'] - best[CHOSEN]['goemotions']:.1f} points" in text
    assert f"where it is {means[CHOSEN][1] - means[SOONER][1]:.2f} behind" in text
    pairs: dict[str, Difference | None] = {}
    for when, at in (("best step", max), ("last", lambda course: course[-1])):
        one, two = (
            {(data, seed): at(course) for data in AVERAGE.data for seed, course in enumerate(found[row][data])}
            for row in (SOONER, CHOSEN)
        )
        pairs[when] = paired(dict(enumerate(one.values())), dict(enumerate(two.values())))
    assert not any(change.is_real for change in pairs.values() if change)
    told = {when: lead(change).removesuffix(", not distinguishable") for when, change in pairs.items()}
    assert f"at the best step ({told['best step']}) or the last ({told['last']})" in text
    start = 100 * np.mean([course[0] for course in found[CHOSEN]["trec"]])
    assert f"on TREC's questions at {last[CHOSEN]['trec']:.1f} % instead of {start:.1f}." in README
    for data in ("trec", "sms_spam"):
        starts = {row: np.mean([c[0] for c in own[data]]) for row, own in found.items() if data in own}
        assert all(100 * start > last[row][data] for row, start in starts.items())


def test_what_a_short_training_should_remember_is_what_was_measured():
    text = page("decisions", "0017-the-first-steps.md")
    search = load(ROOT / "benchmarks" / "search" / "full_short.toml")
    runs = {row: {data: KEPT.earlier("full_short", row, data, 10) for data in search.data} for row in search.variants}
    last = {
        row: {data: 100 * np.mean([run["history"]["dev_accuracy"][-1] for run in own]) for data, own in of.items()}
        for row, of in runs.items()
    }
    assert {len(own) for of in runs.values() for own in of.values()} == {2}
    for data in search.data:
        assert f"| {NAMES[data]} | {' | '.join(f'{last[row][data]:.1f}' for row in last)} |" in text
    assert f"| mean | {' | '.join(f'{np.mean(list(of.values())):.1f}' for of in last.values())} |" in text
    assert runs["decay 0.92"]["hurricane"][0]["settings"]["training"]["average_decay"] == decay_within(100, 0.99)


def test_what_the_new_first_steps_change_on_test_is_what_was_measured():
    text, starts = (
        " ".join(page("decisions", name).split())
        for name in ("0017-the-first-steps.md", "0014-a-start-that-may-be-kept.md")
    )
    changes: dict[tuple[str, str], Difference] = {}
    many = ("empatheticdialogues", "goemotions", "hurricane")
    for name, data in (("main", "ag_news"), *(("classes", data) for data in many)):
        now = Results(load(name), KEPT)
        for row in now.experiment.variants:
            before = {run["seed"]: run["scores"]["test"]["accuracy"] for run in KEPT.earlier(name, row, data, 10)}
            change = paired(now.entries[row, data, 10].values(), before)
            if change is None:
                continue
            changes[row, data] = change
            if row == "jointmatch":
                after = now.entries[row, data, 10].values()
                assert f"| {NAMES[data]} | {spread(before)} | {spread(after)} | {lead(change)} |" in text
    lower = {at: -100 * change.mean for at, change in changes.items() if change.high < 0}
    assert {row for row, _ in lower} == {"jointmatch, 3 networks"}
    three = [lower["jointmatch, 3 networks", data] for data in ("empatheticdialogues", "goemotions")]
    assert f"by {three[0]:.1f} on Empathetic Dialogues and {three[1]:.1f} on GoEmotions" in text
    slow = [run["scores"]["test"]["accuracy"] for run in KEPT.earlier("main_gentle", "jointmatch", "ag_news", 10)]
    assert f"(JointMatch {spread(slow)})" in text
    again = [100 * changes[row, "ag_news"].mean for row in ("uda", "mixtext", "fixmatch", "sat")]
    assert f"changed by {min(again):.1f} to {max(again):+.1f} points on test" in starts
    gained = [100 * changes[row, data].mean for row in ("freematch", "softmatch") for data in many]
    told = "gains {:.1f}, {:.1f} and {:.1f}, and SoftMatch, which had had 5, gains {:.1f}, {:.1f} and {:.1f}"
    assert told.format(*gained) in starts
    assert [change.is_real for (row, _), change in changes.items() if row == "softmatch"] == [True, False, True]


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
