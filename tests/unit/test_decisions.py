"""The numbers in the decisions are those of the committed result files."""

import numpy as np

from jointmatch.benchmark import load
from jointmatch.benchmark.results import LAST, mean, spread
from jointmatch.benchmark.statistics import paired
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
