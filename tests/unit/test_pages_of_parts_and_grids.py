"""What the pages on two networks, parts, numbers of labels and grids say in words is what their tables have."""

import numpy as np
import pytest

from jointmatch.benchmark.statistics import Difference, paired
from tests.unit.measured import lead, on_test, page, results, table


def words(name: str) -> str:
    return " ".join(page("results", f"{name}.md").split())


def said(difference: Difference) -> str:
    return f"{difference.mean:.2f} [{difference.low:.2f}, {difference.high:.2f}]"


def average(name: str, row: str, labels: int = 10) -> float:
    return float(np.mean([*on_test(name, row, labels=labels).values()]))


def spread(name: str, row: str) -> float:
    return float(np.std([*on_test(name, row).values()]))


def test_of_fixmatch_s_ensemble_in_the_main_comparison():
    text = words("main")
    assert f"JointMatch is {said(lead('main', 'jointmatch', 'fixmatchensemble'))} ahead of it" in text
    assert not lead("main", "fixmatchensemble", "fixmatch").is_real
    layers = lead("main", "fixmatchensemble", "fixmatch", "imdb")
    assert f"gain FixMatch {layers.mean:.1f} points [{layers.low:.1f}, {layers.high:.1f}]" in text
    rest = lead("main", "jointmatch", "fixmatchensemble", "imdb")
    assert abs(rest.mean - layers.mean) < 0.1
    assert not rest.is_real


def test_of_the_paper_s_recipe_on_imdb():
    text = words("main")
    ours, other = (
        float(np.mean([*on_test("main", f"{name}, recipe paper", "imdb").values()]))
        for name in ("jointmatch", "fixmatch")
    )
    assert f"level with FixMatch there, at {ours:.1f} and {other:.1f}" in text
    assert not lead("main", "jointmatch, recipe paper", "fixmatch, recipe paper", "imdb").is_real
    best = lead("main", "jointmatch", "jointmatch, recipe paper", "imdb")
    assert f"`best` is {best.mean:.1f} points [{best.low:.1f}, {best.high:.1f}] ahead of it" in text
    assert 13.5 < 76.91 - ours < 14.5
    assert 2.5 < 87.68 - average("main", "jointmatch, recipe paper") < 3.5


def test_of_the_parts_of_recipe_best():
    text = words("components")
    both, thresholds, labels, weights = (
        lead("components", "best", f"best, {without}")
        for without in ("none of the three", "fixed threshold", "own labels", "disagreement weights")
    )
    assert f"gain a point together**, {said(both)}, and cut the spread to a quarter" in text
    assert f"thresholds gain {said(thresholds)} by themselves; cross-labels {labels.mean:.2f}, within chance" in text
    assert [cost.is_real for cost in (both, thresholds, labels, weights)] == [True, True, False, True]
    assert 3.5 < spread("components", "best, none of the three") / spread("components", "best") < 4.5
    alone, ensemble = average("components", "best, none of the three"), average("main", "fixmatchensemble")
    assert f"rule with weight 5 and have {alone:.2f}, where" in text
    assert f"own weight, 1, has {ensemble:.2f}." in text
    assert f"disagreement weights cost {said(weights)}.**" in text


def test_of_one_rule_that_was_run_twice():
    once, again = on_test("components", "fixed threshold"), on_test("lambda", "momentum 1.0")
    apart = [abs(once[seed] - again[seed]) for seed in again]
    assert len(apart) == 3
    means = [np.mean([run[seed] for seed in again]) for run in (once, again)]
    assert f"three seeds: {means[0]:.2f} as a part removed and {means[1]:.2f} as lambda = 1" in words("components")
    assert f"Single seeds differ by {min(apart):.1f} to {max(apart):.1f}." in words("components")


def test_of_the_number_of_labels():
    rivals, counts = ("fixmatch", "fixmatchensemble", "freematchensemble"), (5, 10, 15, 25, 100, 1000)
    ahead = {(row, n): lead("labels", "jointmatch", row, labels=n) for row in rivals for n in counts}
    assert all(difference.mean > 0 for (_, n), difference in ahead.items() if n < 1000)
    assert all(ahead[row, n].is_real for row in rivals[1:] for n in counts[1:-1])
    assert [f"{ahead['fixmatch', n].mean:.1f}" for n in (5, 10, 100)] == ["1.5", "1.4", "0.6"]
    assert "1.5 points over FixMatch with five labels, where the paper has 15.7, 1.4 with ten (7.4), 0.6" in words(
        "labels"
    )
    assert not ahead["fixmatch", 1000].is_real
    assert ahead["freematchensemble", 1000].high < 0
    assert round(ahead["freematchensemble", 1000].mean, 1) == -0.3
    assert all(lead("labels", row, "logistic_regression", labels=1000).low > 1 for row in ("jointmatch", *rivals))
    second = [lead("labels", "fixmatchensemble", "fixmatch", labels=n).mean for n in counts]
    assert f"{min(second):.1f} to {max(second):.1f} points" in words("labels")


def test_of_the_draw_of_five_labels_that_is_too_few():
    ours = on_test("labels", "jointmatch", labels=5)
    poor = min(ours, key=lambda seed: ours[seed])
    others = sorted(value for seed, value in ours.items() if seed != poor)
    assert f"end at {others[0]:.1f} to {others[-1]:.1f}, one at {ours[poor]:.1f}" in words("labels")
    rows = ("fixmatch", "fixmatchensemble", "freematchensemble", "label_spreading")
    rest = [on_test("labels", row, labels=5)[poor] for row in rows]
    assert f"the other methods are at {min(rest):.0f} to {max(rest):.0f} on it" in words("labels")
    frozen = on_test("labels_lite", "jointmatch", labels=5)[poor]
    assert f"heads get to {frozen:.1f} on the same draw" in words("labels")
    (run,) = (r for r in table("labels").entries["jointmatch", "ag_news", 5].records if r["seed"] == poor)
    assert 0 < max(run["history"]["dev_accuracy"]) - run["history"]["dev_accuracy"][0] < 0.01
    ways = results("search/few_labels")
    dev = [ways.entries[row, "ag_news", 5].values(part="dev") for row in ways.experiment.variants]
    assert sorted(own[poor] > 0.85 for own in dev if not 0.75 < own[poor] < 0.85) == [False] * 3 + [True] * 2
    apart = [max(own[seed] for own in dev) - min(own[seed] for own in dev) for seed in range(10) if seed != poor]
    assert 0.02 < max(apart) < 0.025


def test_of_delta():
    ours, weights = "delta 0.9", ("delta 0.0", "delta 0.3", "delta 0.5", "delta 0.7")
    gains = [lead("delta", row, ours) for row in weights]
    assert all(0.8 < gain.mean < 1.3 and not gain.is_real for gain in gains)
    end = {seed: value - on_test("delta", "delta 1.0")[seed] for seed, value in on_test("delta", ours).items()}
    assert all(1 < loss < 2.5 for loss in end.values())
    level = paired(on_test("components", "uniform weights"), on_test("delta", "delta 0.5"))
    assert level is not None
    assert f"the two are level ({said(level)})" in words("delta")


def test_of_lambda():
    rows = [f"momentum {value}" for value in (0.0, 0.25, 0.5, 0.9)]
    means = [average("lambda", row) for row in rows]
    assert max(means) - min(means) < 0.25
    fixed = lead("lambda", "momentum 0.9", "momentum 1.0")
    assert fixed.is_real
    assert f"never move (1) are {fixed.mean:.1f} behind" in words("lambda")
    assert abs(average("lambda", "momentum 0.99") - average("lambda", "momentum 1.0")) < 0.2
    assert not lead("lambda", "momentum 0.9", "momentum 0.99").is_real


def test_of_tau():
    ours = "tau 0.98"
    costs = {value: lead("tau", ours, f"tau {value}") for value in (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)}
    assert not any(cost.is_real for cost in costs.values())
    assert [round(2 * costs[value].mean) / 2 for value in (0.0, 0.5)] == [4.5, 2.5]
    assert all(abs(costs[value].mean) < 0.4 for value in (0.75, 0.9, 0.95, 0.99))
    by_seed = [value - on_test("tau", "tau 0.0")[seed] for seed, value in on_test("tau", ours).items()]
    assert round(by_seed[0]) == 9
    assert max(by_seed[1:]) < 3
    same = [abs(value - on_test("tau", "tau 0.0")[seed]) for seed, value in on_test("tau", "tau 0.25").items()]
    assert sorted(round(difference, 1) for difference in same) == [0, 0, 0.2]


def test_of_mu():
    means = {n: average("mu", f"mu {n}") for n in (1, 3, 5, 10, 15, 20)}
    assert f"rise from {means[1]:.1f} at mu = 1 to {means[20]:.1f} at 20" in words("mu")
    assert not any(lead("mu", "mu 10", f"mu {n}").is_real for n in (1, 3, 5, 15, 20))
    gained = [value - on_test("mu", "mu 1")[seed] for seed, value in on_test("mu", "mu 20").items()]
    assert max(gained) > sum(gained) / 2


@pytest.mark.parametrize("data", ["empatheticdialogues", "goemotions", "hurricane"])
def test_of_many_classes(data):
    rivals = ("supervised", "fixmatch", "sat", "freematch", "softmatch", "logistic_regression", "label_spreading")
    assert all(lead("classes", "jointmatch", row, data).is_real for row in rivals)
    assert all(lead("classes", "jointmatch", row, data).mean > 0 for row in rivals)
    best = lead("classes", "jointmatch", "jointmatch, recipe paper", data)
    assert (data == "goemotions") is not best.is_real
    assert round(best.mean) in {"empatheticdialogues": (7,), "goemotions": (1,), "hurricane": (8,)}[data]
