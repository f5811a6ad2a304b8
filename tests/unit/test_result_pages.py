"""What pages of results say in words, and what recipes hold, is what the committed result files have."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jointmatch.algorithms import settings_of
from jointmatch.benchmark import Results, load
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.results import mean
from jointmatch.benchmark.statistics import Difference, paired
from jointmatch.benchmark.table import NAMES, sections
from jointmatch.config import TrainingConfig
from jointmatch.resolve import resolve
from tests.unit.measured import KEPT, ROOT, lead, page, race, result, results

# In full their weight is that of another search (full_weights.toml, three sets), not of the one on AG News alone.
ON_THREE_SETS = ("uda", "mixtext", "fixmatch", "fixmatchensemble", "sat", "freematch", "softmatch")


@pytest.mark.parametrize(
    ("mode", "searched", "shown", "seeds"),
    [("lite", "algorithms_search", "algorithms_lite", [0, 1, 2]), ("full", "algorithms_full", "algorithms", [0, 1])],
)
def test_the_table_of_all_algorithms_runs_each_under_what_its_search_found_best_on_dev(mode, searched, shown, seeds):
    """By the search's own runs: what ran again since, only the best ones, has come out a little better or worse."""
    tried: dict[str, dict[float, dict[str, Any]]] = {}
    search = load(ROOT / "benchmarks" / "search" / f"{searched}.toml")
    for row, variant in search.variants.items():
        own = variant.settings
        runs = KEPT.earlier(search.name, row, "ag_news", 10)
        assert [run["seed"] for run in runs] == seeds
        found = mean({run["seed"]: run["scores"]["dev"]["accuracy"] for run in runs})
        tried.setdefault(own["algorithm"]["name"], {})[found] = dict(own)
    table = load(shown)
    rows = {v.settings["algorithm"]["name"] for v in table.variants.values()}
    assert {v.settings["algorithm"]["name"] for v in search.variants.values()} | {"supervised"} == rows
    for name, settings in tried.items():
        if mode == "full" and name in ON_THREE_SETS:
            continue
        best = settings[max(settings)]
        run = resolve(table.settings_of(f"{name}, best", "ag_news"), mode)
        assert run.algorithm.settings["unlabeled_weight"] == best["algorithm"]["unlabeled_weight"], name
        rate = best.get("training", {}).get("learning_rate", run.training.learning_rate)
        assert run.training.learning_rate == rate, name


@pytest.mark.parametrize("shown", ["main", "classes", "labels", "algorithms"])
def test_the_methods_that_are_compared_have_the_weight_that_three_sets_favoured(shown):
    table, found = load(shown), set()
    for row in table.variants:
        own = cells_of(table, row, "ag_news" if "ag_news" in table.data else "hurricane", 10)[0].settings
        name = own["algorithm"]["name"]
        if own["training"]["recipe"] == "best" and name in ON_THREE_SETS:
            assert own["algorithm"]["unlabeled_weight"] == 1.0, row
            found.add(name)
    assert len(found) > 1


def on_dev(name: str, data: str, at: Callable[[list[float]], float]) -> float:
    """JointMatch's lead over FixMatch on dev, in points, at some step of every run."""
    found = Results(load(name), KEPT)
    ours, theirs = (
        {run["seed"]: at(run["history"]["dev_accuracy"]) for run in found.entries[row, data, 10].records}
        for row in ("jointmatch", "fixmatch")
    )
    difference = paired(ours, theirs)
    assert difference is not None
    return 100 * difference.mean


def test_what_the_main_page_says_in_words_is_what_its_table_has():
    text = " ".join(page("results", "main.md").split())
    found = Results(load("main"), KEPT)

    def values(row: str, data: str) -> dict[int, float]:
        return found.entries[row, data, 10].values()

    def spreads(row: str) -> float:
        return float(np.std(list(values(row, "ag_news").values())))

    def led(row: str, data: str, than: str = "jointmatch") -> Difference:
        difference = paired(values(than, data), values(row, data))
        assert difference is not None
        return difference

    rivals = ["supervised", "uda", "mixtext", "fixmatch", "sat"]
    assert all(led(row, "ag_news").low > 0 for row in rivals)
    assert min(spreads(row) for row in rivals) > 4 * spreads("jointmatch")
    words = [-100 * led("jointmatch, and words", data).mean for data in ("ag_news", "imdb")]
    plain = 100 * led("fixmatch", "ag_news", "fixmatch, and words").mean
    assert (
        f"They bring JointMatch {words[0]:.2f} points on AG News and {words[1]:.2f} on IMDB, and FixMatch {plain:.2f}"
        in text
    )
    assert not led("fixmatch", "imdb", "fixmatch, and words").is_real
    leads = {row: led(row, "imdb") for row in rivals}
    assert all(0.1 < lead.mean < 0.13 for lead in leads.values())
    assert [row for row, lead in leads.items() if lead.is_real] == ["supervised", "uda"]
    poor = sorted(values("jointmatch", "imdb").values())
    assert poor[0] < 0.6 < 0.73 < poor[1]
    cheap = [led(row, "imdb", "logistic_regression").mean for row in rivals]
    assert min(cheap) > 0
    assert not led("logistic_regression", "imdb").is_real
    sets = {"ag_news": "main", "imdb": "main", "empatheticdialogues": "classes", "goemotions": "classes"}
    for data, name in sets.items():
        dev = [on_dev(name, data, at) for at in (lambda course: course[0], max)]
        said = NAMES[data].replace("IMDB", "on IMDB") if data == "imdb" else f"on {NAMES[data]}"
        verb = "points " if data == "ag_news" else ""
        assert f"{dev[0]:.1f} and {dev[1]:.1f} {verb}{said}" in text
    layers = Results(load(ROOT / "benchmarks" / "search" / "lite_one_layer.toml"), KEPT)
    gains = {}
    for data in layers.experiment.data:
        one, both = (layers.entries[row, data, 10].values(part="dev") for row in ("last layer", "both, a network each"))
        gains[data] = paired(both, one)
    real = {data: 100 * gain.mean for data, gain in gains.items() if gain is not None and gain.is_real}
    assert f"gains {real.pop('imdb'):.1f} points on IMDB and {real.pop('goemotions'):.1f} on GoEmotions" in text
    assert not real
    lite = Results(load("main_lite"), KEPT)
    frozen = [
        paired(lite.entries["jointmatch", "imdb", 10].values(), lite.entries[r, "imdb", 10].values()) for r in rivals
    ]
    assert all(0.028 < lead.mean < 0.05 for lead in frozen if lead)
    assert 0.07 < led("fixmatch, published", "ag_news").mean < 0.075
    assert round(spreads("fixmatch, published") / spreads("jointmatch")) == 18
    assert round(spreads("fixmatch") / spreads("jointmatch")) == 5
    assert f"it is {100 * led('fixmatch', 'ag_news').mean:.1f} points behind" in text
    for data in ("ag_news", "imdb"):
        assert not any(led(row, data).is_real for row in ("jointmatch, adaptive delta", "jointmatch, 3 networks"))
    assert led("supervised", "ag_news", "label_spreading").is_real


def test_as_many_algorithms_are_steadier_than_jointmatch_as_the_overview_says():
    found = Results(load("algorithms"), KEPT)
    rows = [entry for entry in found.rows("ag_news", 10) if entry.row.endswith(", best") and entry.values()]
    ours = next(entry for entry in rows if entry.row == "jointmatch, best")
    steadier = [e for e in rows if np.std(list(e.values().values())) < np.std(list(ours.values().values()))]
    assert f"{len(steadier)} of [the other algorithms]" in " ".join(page("results", "index.md").split())
    assert all(mean(entry.values()) < mean(ours.values()) for entry in steadier)


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks").glob("**/*.toml")), ids=lambda file: file.stem)
def test_every_experiment_kept_here_has_results_that_can_be_shown(file):
    shown = sections(Results(load(file), KEPT))
    assert any("±" in str(row) for table in shown for row in table.rows)


def test_what_the_page_about_speed_says_in_words_is_what_its_files_have():
    def took(shape: str, way: str) -> dict:
        return result(f"cells/speed/nvidia-h200/{shape}_{way}")

    def both(of: str, way: str) -> list[float]:
        """How many times longer ``of`` takes than ``way``, a step and seed, at both sizes."""
        key = "ms_per_step_and_seed"
        return [took(shape, of)[key] / took(shape, way)[key] for shape in ("bert-base", "minilm")]

    def share(shape: str, way: str) -> float:
        return 100 * took(shape, way)["tflops"] / took(shape, way)["peak_tflops"]

    text = " ".join(page("results", "speed.md").split())
    ours, five, ragged = "fused", "fused_seeds-5", "_shortest-16"
    large, small = "bert-base", "minilm"
    one, several, uneven = both("published", ours), both("published", five), both(f"published{ragged}", ours + ragged)
    assert f"is {one[0]:.0f} times as fast as the published way at BERT-base's size and {one[1]:.0f} times" in text
    assert f"of five in one stack is {several[0]:.0f} and {several[1]:.0f} times as fast" in text
    assert f"(16 to 64 tokens) one seed is {uneven[0]:.0f} and {uneven[1]:.0f} times as fast" in text
    one, several, uneven = both("apart", ours), both("apart", five), both(f"apart{ragged}", ours + ragged)
    assert f"is {one[0]:.1f} and {one[1]:.1f} times as fast with one seed" in text
    assert f"with one seed, {several[0]:.1f} and {several[1]:.1f} with five" in text
    assert f"{uneven[0]:.1f} and {uneven[1]:.1f} on texts of different lengths" in text
    assert f"over real tokens reach {share(large, ours):.0f} % of it" in text
    assert f"and {share(large, five):.0f} % with five seeds" in text
    assert f"lengths {share(large, ours + ragged):.0f} and {share(large, five + ragged):.0f} %." in text
    assert f"narrow for that: {share(small, ours):.0f} and {share(small, five):.0f} %." in text
    steps = {(s, way): f"{took(s, way)['ms_per_step']:.1f}" for s in (large, small) for way in ("compiled", ours)}
    assert f"BERT-base's step from {steps[large, 'compiled']} to {steps[large, ours]} ms" in text
    assert f"take MiniLM's from {steps[small, 'compiled']} to {steps[small, ours]}." in text
    odd = {(s, way): took(s, way + ragged)["ms_per_step"] for s in (large, small) for way in ("compiled", ours)}
    assert f"from {odd[large, 'compiled']:.1f} to {odd[large, ours]:.1f} on texts of different lengths" in text
    assert f"is slower with them here, {odd[small, ours]:.1f} ms instead of {odd[small, 'compiled']:.1f}" in text
    seeds = [took(small, way)["ms_per_step_and_seed"] for way in (five + ragged, five)]
    assert f"takes {seeds[0]:.1f} where one on texts of full length takes {seeds[1]:.1f}" in text
    of_five, of_two = both(five, ours), both(ours, f"{ours}_algorithm-fixmatch_networks-1")
    assert f"take {of_five[0]:.2f} (BERT-base) and {of_five[1]:.2f} (MiniLM) times" in text
    of_five = both(five + ragged, ours + ragged)
    assert f"each, and on texts of different lengths {of_five[0]:.2f} and {of_five[1]:.2f}." in text
    assert f"takes {of_two[0]:.2f} and {of_two[1]:.2f} times as long" in text
    grown = {more: both(f"compiled_{more}", "compiled") for more in ("networks-8", "length-256", "pool-100000")}
    assert f"four times BERT-base's networks, {grown['networks-8'][0]:.1f} times the cost" in text
    assert f"four times the length, {grown['length-256'][0]:.1f} times the cost" in text
    assert 1.05 < grown["pool-100000"][0] < 1.15
    least = [took(small, f"compiled_{load}")["ms_per_step"] for load in ("mu-1", "mu-5", "length-16")]
    assert 5 < min(least) < max(least) < 6.5


def test_in_lite_recipe_best_has_the_weights_that_were_best_on_three_sets():
    search = results("search/lite_weights").experiment
    means: dict[str, dict[float, float]] = {}
    for row, variant in search.variants.items():
        name, weight = variant.settings["algorithm"]["name"], variant.settings["algorithm"]["unlabeled_weight"]
        runs = [KEPT.earlier("lite_weights", row, data, 10) for data in search.data]
        runs.append(KEPT.earlier("algorithms_search", f"{row}, learning_rate 0.005", "ag_news", 10))
        assert [len(own) for own in runs] == [3, 3, 3]
        means.setdefault(name, {})[weight] = np.mean([r["scores"]["dev"]["accuracy"] for own in runs for r in own])
    for name, tried in means.items():
        run = resolve({"algorithm": {"name": name}}, "lite")
        default = settings_of(name)["unlabeled_weight"].default
        weight = run.algorithm.settings.get("unlabeled_weight", default)
        assert weight == max(tried, key=lambda w: tried[w]), name


def test_what_is_said_of_the_race_is_what_was_measured():
    runs = race("plain", "same", "paper", "skipping", "best")

    def at(way: str, step: int, what: int) -> list[float]:
        return [row[what] for run in runs[way] for row in run["course"] if row[1] == step]

    minutes = {way: max(run["seconds"] for run in own) / 60 for way, own in runs.items()}
    ends = {way: np.mean([run["scores"]["test"]["accuracy"] for run in own]) for way, own in runs.items()}
    assert 1 / 3.2 < minutes["same"] / minutes["plain"] < 1 / 2.8
    assert 1 / 5.2 < minutes["best"] / minutes["plain"] < 1 / 4.5
    assert [ends["best"] > ends[way] for way in ("plain", "same", "paper", "skipping")] == [True] * 4
    for other in ("plain", "same", "paper", "skipping"):
        assert np.mean(at("best", 50, 2)) > np.mean(at(other, 50, 2))
    assert max(at("best", 50, 0)) < min(at("plain", 50, 0))
    assert np.mean(at("paper", 500, 2)) < np.mean(at("plain", 500, 2)) - 0.02
    assert ends["paper"] < ends["plain"]
    assert [len(at(way, 450, 0)) for way in ("paper", "skipping")] == [5, 5]
    assert 1.08 < np.mean(at("skipping", 450, 0)) / np.mean(at("paper", 450, 0)) < 1.12
    assert TrainingConfig().skip_unselected is False


def test_what_is_said_of_the_parts_under_the_paper_s_recipe_is_what_the_table_has():
    """Two cost two to four points when removed, with a spread at least about twice as large; all three cost four."""
    found = Results(load("components"), KEPT)
    test = {
        row: found.entries[row, "ag_news", 10].values()
        for row in found.experiment.variants
        if not row.startswith("best")
    }
    whole = test.pop("jointmatch, recipe paper")
    costs = {row: paired(whole, own) for row, own in test.items()}
    assert {row for row, cost in costs.items() if cost is not None and cost.is_real} == {*costs} - {"uniform weights"}
    means = {row: 100 * cost.mean for row, cost in costs.items() if cost is not None}
    assert 2 < means["fixed threshold"] < means["own labels"] < 4 < means["none of the three"] < 4.5
    assert -1 < means["uniform weights"] < 0
    spreads = [
        np.std(list(test[row].values())) / np.std(list(whole.values())) for row in ("fixed threshold", "own labels")
    ]
    assert 1.8 < min(spreads) < max(spreads) < 2.7
    single = Results(load("main"), KEPT).entries["fixmatch, recipe paper", "ag_news", 10].values()
    assert abs(mean(single) - mean(test["none of the three"])) < 0.003


def test_what_the_overview_says_in_short_is_what_the_tables_have():
    """Each claim by its lead: of the first row over the second, how large, and whether its interval leaves out 0."""
    ours, three, adaptive = "jointmatch", "jointmatch, 3 networks", "jointmatch, adaptive delta"

    def led(name: str, one: str, other: str, data: str) -> tuple[float, bool]:
        difference = lead(name, one, other, data)
        return round(difference.mean, 1), difference.is_real

    assert led("components_lite", "best", "best, disagreement weights", "ag_news") == (1.7, True)
    assert led("components", "best", "best, disagreement weights", "ag_news") == (0.8, True)
    assert led("components", "best", "best, none of the three", "ag_news") == (1.1, True)
    assert led("main", ours, "fixmatchensemble", "ag_news") == (0.9, True)
    assert led("lambda", "momentum 0.9", "momentum 1.0", "ag_news") == (2.3, True)
    assert led("delta", "delta 0.9", "delta 1.0", "ag_news") == (1.9, True)
    assert not led("tau", "tau 0.98", "tau 0.0", "ag_news")[1]
    assert led("tau_lite", "tau 0.9", "tau 0.0", "ag_news")[1]
    assert led("classes_lite", three, ours, "hurricane") == (1.1, True)
    assert led("classes_lite", ours, three, "goemotions") == (0.7, True)
    assert led("main_lite", ours, adaptive, "ag_news") == (0.3, True)
    assert led("classes_lite", ours, adaptive, "hurricane") == (0.7, True)
    assert led("classes_lite", "fixmatch", ours, "goemotions") == (1.1, True)
    sets = ("empatheticdialogues", "goemotions", "hurricane")
    alike = [("main", row, "ag_news") for row in (three, adaptive)]
    alike += [("main", row, "imdb") for row in (three, adaptive)]
    alike += [("classes", row, data) for data in sets for row in (three, adaptive)]
    alike += [("main_lite", three, "ag_news"), ("classes_lite", three, sets[0])]
    alike += [("classes_lite", adaptive, data) for data in sets[:2]]
    assert not any(led(name, ours, row, data)[1] for name, row, data in alike)
    paper = [led("classes", "jointmatch, recipe paper", "fixmatch, recipe paper", data) for data in sets]
    assert paper == [(1.8, True), (1.8, True), (4.5, False)]
    assert led("classes", "logistic_regression", "jointmatch, recipe paper", "empatheticdialogues") == (1.8, True)
    assert not led("classes", ours, "fixmatch, recipe paper", "goemotions")[1]
