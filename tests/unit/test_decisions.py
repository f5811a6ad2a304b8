"""The numbers in the decisions are those of the committed result files."""

import numpy as np

from jointmatch.benchmark import Results, load
from jointmatch.benchmark.results import LAST, mean, spread
from jointmatch.benchmark.statistics import Difference, paired
from jointmatch.benchmark.table import NAMES, lead
from jointmatch.config import NetworkConfig
from tests.unit.measured import KEPT, README, ROOT, entry, page, race, result


def test_the_table_of_parts_beyond_the_paper_is_what_the_search_found():
    text = page("decisions", "0006-parts-beyond-the-paper.md")
    search = load(ROOT / "benchmarks" / "search" / "lite_parts.toml")
    for variant in search.variants:
        sets = [KEPT.earlier("lite_parts", variant, data, 10) for data in ("ag_news", "goemotions")]
        cells = [spread([run[LAST]["dev"]["accuracy"] for run in runs]) if runs else "" for runs in sets]
        assert any(cells)
        assert f"| {variant} | {cells[0]} | {cells[1]} |" in text


def test_the_numbers_on_the_page_about_seeds_are_the_measured_ones():
    text = page("decisions", "0009-seeds-side-by-side.md")
    lite = {row["unlabeled"]: row["ratio"] for row in result("seed_speed_lite")["steps"]}
    assert f"{lite[80]:.2f} times as long per seed with 80" in text
    assert f"and {lite[1024]:.2f} times with the 1024" in text
    assert f"{result('seed_speed_tiny')['steps'][0]['ratio']:.2f} times as long per seed" in text


def test_the_table_of_steps_on_a_cpu_is_what_was_measured():
    text = page("decisions", "0007-networks-stacked.md")
    loads = result("cpu_steps")["loads"]
    assert f"| times as fast as networks apart in fp32 | {' | '.join(loads)} |" in text
    for way in next(iter(loads.values())):
        shown = " | ".join(f"{rows[way]['times_as_fast']:.2f}" for rows in loads.values())
        assert f"| {way} | {shown} |" in text


def test_the_table_of_features_on_a_cpu_is_what_was_measured():
    text = page("decisions", "0008-features-on-a-cpu.md")
    speed = result("feature_speed")
    for way, ratio in speed["ratio_to_sentence_transformers"].items():
        distance = speed["distance_from_transformers"].get(way)
        off = f"{distance['mean']:.1e} | {distance['largest']:.1e}" if distance else "0 | 0"
        assert f"| {way} | {ratio:.2f} | {off} |" in text
    for variant, name in (("fp32", "fp32"), ("int8", "integers")):
        values = entry("features_int8", variant).values(part="dev")
        assert len(values) == 3
        assert f"{spread(values)} in {name}" in text


def test_the_numbers_on_the_page_about_a_partial_mode_are_the_measured_ones():
    text = page("decisions", "0011-partial-mode.md")
    own = result("partial_mode")["ag_news"]
    kept, features = own["activations, views none"], own["features"]
    texts = kept["texts"]

    def runs(name: str, seeds: int) -> list[dict[str, float]]:
        assert set(own["runs"][name]) == {str(seed) for seed in range(seeds)}
        return list(own["runs"][name].values())

    def row(title: str, found: list[dict[str, float]], making: float, size: float) -> str:
        shown = spread([run["accuracy"] for run in found])
        step, training = (np.mean([run[f"seconds_{of}"] for run in found]) for of in ("per_step", "training"))
        return f"| {title} | {shown} | {making:.0f} s | {step:.2f} s | {training:.0f} s | {size / 1e9:.2f} GB |"

    def partial(k: int, rate: str, more: str = "bf16") -> str:
        return f"partial, k {k}, layers 1 0.67, views none, rate {rate}, mu 4, steps 200, {more}"

    lite = row("lite", runs("lite", 3), texts / features["texts_per_second"], texts * features["bytes_per_text"])
    assert lite in text
    below = 100 * np.mean([run["accuracy"] for run in runs("lite", 3)])
    for k in (1, 2):
        found = runs(partial(k, "0.0001"), 3)
        assert row(f"partial, k = {k}", found, kept["seconds"], 2 * kept["bytes_per_depth"]) in text
        assert f"they have {spread([run['accuracy_at_start'] for run in found])}" in text
        start, end = (100 * np.mean([run[of] for run in found]) for of in ("accuracy_at_start", "accuracy"))
        assert f"{end - start:+.2f} {'points ' if k == 1 else ''}with k = {k}" in text
        assert f"and `lite`, {start - below:+.2f}" in text
    searched = {
        1: [partial(1, "0.0001"), partial(1, "0.0003", "fp32"), partial(1, "0.001")],
        2: [partial(2, "0.0001"), partial(2, "0.0003")],
    }
    for k, names in searched.items():
        scores = [f"{100 * own['runs'][name]['0']['accuracy']:.2f}" for name in names]
        assert f"{', '.join(scores)} with k = {k}" in text
    (plain,) = runs(searched[1][1], 1)
    assert f"{plain['seconds_per_step']:.2f} s in fp32" in text
    (other,) = runs(partial(1, "0.0003", "bf16, rule of lite"), 1)
    assert f"{100 * other['accuracy']:.2f} with the rule of `lite`" in text
    assert f"{own['dev']:,} texts of dev" in text


def test_the_table_of_full_training_in_the_decisions_is_what_was_measured():
    text = page("decisions", "0003-what-recipe-best-holds.md")
    rows = {
        "both networks on the last layer (before)": ("full_second", "base"),
        "two layers": ("full_second", "two layers"),
        "two layers, adaptivity 0.5 (tau 0.98, w_u 1)": ("full_third", "half"),
        "two layers, adaptivity 0.5, against the start": ("full_third", "half, start"),
        "two layers, the selection of lite (tau 0.9, soft, against the start, w_u 5)": (
            "full_second",
            "two layers, as lite",
        ),
        "tau 0.98, w_u 5": ("full_fourth", "hard, tau 0.98"),
        "**tau 0.9, w_u 5**": ("full_fourth", "hard"),
        "tau 0.9, w_u 5, soft labels": ("full_fourth", "soft"),
        "tau 0.9, w_u 5, against the start of the heads": ("full_fourth_carried", "hard, start"),
        "tau 0.98, w_u 5, against the start of the heads": ("full_fourth_carried", "hard, start, tau 0.98"),
        "tau 0.9, w_u 5, soft labels, against the start of the heads": ("full_fourth_carried", "soft, start"),
    }
    for title, (search, variant) in rows.items():
        cells = []
        for data in ("ag_news", "hurricane", "goemotions"):
            runs = KEPT.earlier(search, variant, data, 10)
            assert [run["seed"] for run in runs] == [0, 1, 2]
            cells.append(spread({run["seed"]: run["scores"]["dev"]["accuracy"] for run in runs}))
        assert f"| {title} | {' | '.join(cells)} |" in text


def test_the_tables_of_where_heads_begin_are_what_was_measured():
    text = page("decisions", "0012-where-heads-begin.md")
    columns = {
        "lite_means": ["references", "prototype", "means"],
        "full_means": ["prototype", "means"],
        "unbalanced_means": [
            "prototype",
            "means",
            "prototype, own labels, fixed threshold",
            "means, own labels, fixed threshold",
        ],
    }
    for name, rows in columns.items():
        search = load(ROOT / "benchmarks" / "search" / f"{name}.toml")
        for data, labels in ((data, labels) for data, counts in search.data.items() for labels in counts):
            runs = [KEPT.earlier(name, row, data, labels) for row in rows]
            assert [[run["seed"] for run in own] for own in runs] == [search.seeds] * len(rows)
            scores = [
                [run.get("scores", run.get("baselines", {}).get("logistic_regression")) for run in own] for own in runs
            ]
            cells = [spread([score["dev"]["accuracy"] for score in own]) for own in scores]
            assert f" | {' | '.join(cells)} |\n" in text


def test_networks_are_stacked_on_a_gpu_since_they_are_as_accurate_as_apart():
    text = page("decisions", "0007-networks-stacked.md")
    runs = dict(
        zip(("networks apart, fp32", "one stack of all seeds, bf16"), race("plain", "same").values(), strict=True)
    )
    accuracy = {t: {run["seed"]: run["scores"]["test"]["accuracy"] for run in own} for t, own in runs.items()}
    for title, own in runs.items():
        steps = sum(run["steps"] for run in own) / len(own)
        assert f"| {title} | {spread(list(accuracy[title].values()))} | {steps:.0f} |" in text
    apart, stacked = accuracy.values()
    difference = paired(apart, stacked)
    assert difference is not None
    assert difference.n == 5
    assert f"is {lead(difference)}. Hence" in text
    assert not difference.is_real
    assert NetworkConfig().stacked == "auto"


def test_what_is_said_of_class_names_is_what_was_measured():
    text = page("decisions", "0013-class-names.md")
    found = result("class_names")
    gains = []
    for data, own in found["accuracy"].items():
        test = {row: dict(enumerate(scores["test"])) for row, scores in own.items()}
        cells = [spread(list(test[row].values())) for row in ("nothing", "name", "phrase", "text")]
        gain = paired(test["phrase"], test["nothing"])
        assert gain is not None
        row = [NAMES.get(data, data), *cells, lead(gain), f'"{found["phrases"][data]}"']
        assert f"| {' | '.join(row)} |" in text
        over_text = paired(test["phrase"], test["text"])
        assert over_text is not None
        assert over_text.is_real is (data in ("goemotions", "empatheticdialogues"))
        if gain.is_real:
            gains.append(gain.mean)
            assert gain.mean > mean(test["text"]) - mean(test["nothing"])
    assert (len(gains), len(found["accuracy"])) == (4, 5)
    assert f"on four of five sets that gained {100 * min(gains):.1f} to {100 * max(gains):.1f} points" in " ".join(
        README.split()
    )


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
    words = {
        data: 100 * np.mean([run["scores"]["dev"]["accuracy"] for run in own]) - chosen[data]
        for data, own in runs["1.5e-4, warm-up"].items()
    }
    told = [f"{words[data]:.1f} " for data in ("imdb", "hurricane", "goemotions", "empatheticdialogues")]
    assert "bring {}points on IMDB, {}on Hurricane, {}on GoEmotions and {}on".format(*told) in text


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
