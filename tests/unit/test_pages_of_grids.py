"""What the pages on grids, numbers of labels, figures and other seeds say in words is what their tables have."""

from dataclasses import replace

import numpy as np

from jointmatch.benchmark import Results
from jointmatch.benchmark.results import mean
from jointmatch.benchmark.statistics import Difference, paired
from tests.unit.measured import KEPT, README, average, lead, on_test, results, said, table, words


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
    assert [n for n in counts[:-1] if not ahead["fixmatch", n].is_real] == [25]
    assert not any(ahead[row, n].is_real for row, n in (*((row, 5) for row in rivals[1:]), (rivals[1], 1000)))
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
    real = [n for n in counts if lead("labels", "fixmatchensemble", "fixmatch", labels=n).is_real]
    assert real == [15, 1000]
    paper = {5: 86.0, 10: 87.68, 15: 88.33, 25: 88.5, 100: 89.07, 1000: 90.29}
    below = {n: value - average("labels", "jointmatch", n) for n, value in paper.items()}
    assert below.pop(10) < 0
    assert f"is {min(below.values()):.1f} to {max(below.values()):.1f} below them" in words("labels")
    steady = [np.std([*on_test("labels", row, labels=25).values()]) for row in ("jointmatch", *rivals[1:])]
    assert steady[0] > max(steady[1:])


def test_of_the_draw_of_five_labels_that_is_too_few():
    ours = on_test("labels", "jointmatch", labels=5)
    poor = min(ours, key=lambda seed: ours[seed])
    others = sorted(value for seed, value in ours.items() if seed != poor)
    assert f"end at {others[0]:.1f} to {others[-1]:.1f}, one at {ours[poor]:.1f}" in words("labels")
    assert f"one of five draws ended at {ours[poor]:.1f} %, the others at 87 or more;" in " ".join(README.split())
    assert others[0] > 87
    assert min(on_test("labels", "jointmatch").values()) > 87
    rows = ("fixmatch", "fixmatchensemble", "freematchensemble")
    rest = [on_test("labels", row, labels=5)[poor] for row in rows]
    assert f"FixMatch are at {min(rest):.0f} to {max(rest):.0f} on it, FreeMatch's highest" in words("labels")
    assert max(rest) == rest[2]
    frozen = on_test("labels_lite", "jointmatch", labels=5)[poor]
    assert f"heads get to {frozen:.1f} on the same draw" in words("labels")
    (run,) = (r for r in table("labels").entries["jointmatch", "ag_news", 5].records if r["seed"] == poor)
    assert 0 < max(run["history"]["dev_accuracy"]) - run["history"]["dev_accuracy"][0] < 0.01
    ways = results("search/few_labels")
    dev = [ways.entries[row, "ag_news", 5].values(part="dev") for row in ways.experiment.variants]
    assert sorted(own[poor] > 0.85 for own in dev if not 0.75 < own[poor] < 0.85) == [False] * 3 + [True] * 2
    apart = [max(own[seed] for own in dev) - min(own[seed] for own in dev) for seed in range(10) if seed != poor]
    assert 0.02 < max(apart) < 0.025
    tweets = [ways.entries[row, "hurricane", 5].values(part="dev") for row in ways.experiment.variants]
    widest = max(max(own[seed] for own in tweets) - min(own[seed] for own in tweets) for seed in range(10))
    assert f"they differ by up to {100 * widest:.1f}" in words("labels")


def test_of_delta():
    ours, weights = "delta 0.9", ("delta 0.0", "delta 0.3", "delta 0.5", "delta 0.7")
    gains = [lead("delta", row, ours) for row in weights]
    assert all(0.8 < gain.mean < 1.3 and not gain.is_real for gain in gains)
    end = {seed: value - on_test("delta", "delta 1.0")[seed] for seed, value in on_test("delta", ours).items()}
    assert all(1 < loss < 2.5 for loss in end.values())
    level = paired(on_test("components", "uniform weights"), on_test("delta", "delta 0.5"))
    assert level is not None
    assert f"on the same seeds that makes no difference ({said(level)})" in words("delta")
    assert f"rise a little, as in the paper ({said(lead('delta', 'delta 0.5', 'delta 0.0'))})" in words("delta")
    upper = lead("delta", "delta 0.9", "delta 1.0")
    assert f"excludes 0, though ([{upper.low:.2f}, {upper.high:.2f}])" in words("delta")
    half = lead("components_lite", "best", "best, disagreement weights")
    assert f"0.9 costs {half.mean:.1f} and 1 costs" in words("index")
    frozen = paired(on_test("components_lite", "best"), on_test("delta_lite", "delta 0.5"))
    assert frozen is not None
    assert f"is {said(frozen)} below it" in words("delta")
    ends = [average("components_lite", "best") - average("delta_lite", f"delta {value}") for value in (0.0, 0.3, 1.0)]
    assert max(map(abs, ends[:2])) < 0.1
    assert f"and 1 costs {ends[2]:.1f}." in words("index")
    assert not lead("delta", "delta 0.5", "delta 0.0").is_real


def test_of_lambda():
    rows = [f"momentum {value}" for value in (0.0, 0.25, 0.5, 0.9)]
    means = [average("lambda", row) for row in rows]
    assert max(means) - min(means) < 0.25
    fixed = lead("lambda", "momentum 0.9", "momentum 1.0")
    assert fixed.is_real
    assert f"never move (1) are {fixed.mean:.1f} behind" in words("lambda")
    assert lead("lambda", "momentum 0.9", "momentum 0.0").high < 1.26
    assert lead("lambda", "momentum 0.9", "momentum 0.25").high < 1.46
    memory = lead("lambda_lite", "momentum 0.0", "momentum 0.9")
    assert memory.is_real
    assert f"ahead of 0.9 ({said(memory)})" in words("lambda")
    assert abs(average("lambda", "momentum 0.99") - average("lambda", "momentum 1.0")) < 0.2
    assert not lead("lambda", "momentum 0.9", "momentum 0.99").is_real


def test_of_tau():
    ours = "tau 0.98"
    costs = {value: lead("tau", ours, f"tau {value}") for value in (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)}
    assert not any(cost.is_real for cost in costs.values())
    assert [round(2 * costs[value].mean) / 2 for value in (0.0, 0.5)] == [4.5, 2.5]
    assert all(abs(costs[value].mean) < 0.4 for value in (0.75, 0.9, 0.95, 0.99))
    ends = [costs[value].high for value in (0.75, 0.9, 0.95)]
    assert f"where our intervals end at {min(ends):.1f} to {max(ends):.1f}" in words("tau")
    assert lead("tau_lite", "tau 0.9", "tau 0.99").is_real
    by_seed = [value - on_test("tau", "tau 0.0")[seed] for seed, value in on_test("tau", ours).items()]
    assert round(by_seed[0]) == 9
    assert max(by_seed[1:]) < 3
    same = [abs(value - on_test("tau", "tau 0.0")[seed]) for seed, value in on_test("tau", "tau 0.25").items()]
    assert sorted(round(difference, 1) for difference in same) == [0, 0, 0.2]


def test_of_mu():
    means = {n: average("mu", f"mu {n}") for n in (1, 3, 5, 10, 15, 20)}
    assert f"rise from {means[1]:.2f} at mu = 1 to {means[20]:.2f} at 20" in words("mu")
    assert not any(lead("mu", "mu 10", f"mu {n}").is_real for n in (1, 3, 5, 15, 20))
    gained = [value - on_test("mu", "mu 1")[seed] for seed, value in on_test("mu", "mu 20").items()]
    assert max(gained) > sum(gained) / 2
    ten = lead("mu", "mu 10", "mu 1")
    assert f"{ten.mean:.1f} [{ten.low:.1f}, {ten.high:.1f}] ahead of mu = 1" in words("mu")
    frozen = lead("mu_lite", "unlabeled_batch_size 400", "unlabeled_batch_size 40")
    assert f"mu = 10 is {said(frozen)} ahead of mu = 1" in words("mu")
    more = ("unlabeled_batch_size 1024", "unlabeled_batch_size 2048", "unlabeled_batch_size 4096")
    assert not any(lead("mu_lite", row, "unlabeled_batch_size 400").is_real for row in more)


def test_of_the_run_that_all_grids_share():
    rows = (("delta", "delta 0.9"), ("lambda", "momentum 0.9"), ("tau", "tau 0.98"), ("mu", "mu 10"))
    shared = [table(name).entries[row, "ag_news", 10].records for name, row in rows]
    assert shared.count(shared[0]) == 4
    leads = [
        lead(name, reference, row)
        for name, reference in rows
        for row in table(name).experiment.variants
        if row != reference and table(name).entries[row, "ag_news", 10].records
    ]
    assert f"Of {len(leads)} comparisons that have been run two are" in words("index")
    assert sum(difference.is_real for difference in leads) == 2


def test_of_pseudo_labels_over_training():
    found = {
        row: table("figures").entries[f"{row}, recipe paper", "ag_news", 10].records
        for row in ("jointmatch", "fixmatch")
    }

    def at(what: str, step: int) -> list[float]:
        return [
            100 * float(np.mean([run["history"][what][run["history"]["step"].index(step)] for run in runs]))
            for runs in found.values()
        ]

    shares, right = at("pseudo_label_share", 300), at("pseudo_label_accuracy", 300)
    assert f"{shares[0]:.0f} % of the pool at step 300, FixMatch {shares[1]:.0f} %" in words("figures")
    assert f"{right[0]:.0f} % of its labels are right then, and {right[1]:.0f} % of FixMatch's" in words("figures")
    assert at("pseudo_label_accuracy", 2000)[0] > 80 > 70 > at("pseudo_label_accuracy", 2000)[1]


def test_of_five_other_seeds():
    text, again = words("other_seeds"), table("other_seeds_lite")
    ten = Results(replace(again.experiment, seeds=list(range(10))), KEPT)

    def over_ten(one: str, other: str, data: str, metric: str = "accuracy") -> Difference:
        ours, theirs = (
            {seed: 100 * value for seed, value in ten.entries[row, data, 10].values(metric).items()}
            for row in (one, other)
        )
        difference = paired(ours, theirs)
        assert difference is not None
        assert difference.n == 10
        return difference

    assert again.experiment.seeds == [5, 6, 7, 8, 9]
    changed = {}
    for data in again.experiment.data:
        for row in ("jointmatch", "jointmatch, and words"):
            first = {s: v for s, v in ten.entries[row, data, 10].values().items() if s < 5}
            changed[row, data] = 100 * (mean(again.entries[row, data, 10].values()) - mean(first))
    assert f"{-min(changed.values()):.1f} lower at most (Hurricane)" in text
    assert f"and {max(changed.values()):.1f} higher (Empathetic Dialogues)" in text
    assert min(changed, key=lambda at: changed[at])[1] == "hurricane"
    assert max(changed, key=lambda at: changed[at])[1] == "empatheticdialogues"
    leads = {data: over_ten("jointmatch", "fixmatch", data) for data in again.experiment.data}
    for data, name in (("ag_news", "AG News"), ("hurricane", "Hurricane"), ("empatheticdialogues", "Empathetic")):
        assert f"{said(leads[data])} on {name}" in text
    assert not lead("main_lite", "jointmatch", "fixmatch").is_real
    ahead_before = lead("classes_lite", "fixmatch", "jointmatch", "goemotions")
    assert ahead_before.is_real
    assert [data for data in leads if lead("other_seeds_lite", "jointmatch", "fixmatch", data).is_real] == [
        "hurricane",
        "empatheticdialogues",
    ]

    def moved(row: str, data: str) -> float:
        own = ten.entries[row, data, 10].values()
        first, new = ([value for seed, value in own.items() if (seed < 5) is early] for early in (True, False))
        return 100 * float(np.mean(new) - np.mean(first))

    down = [-moved("fixmatch", "hurricane"), -moved("label_spreading", "hurricane"), -moved("fixmatch", "goemotions")]
    assert "FixMatch is {:.1f} lower and label spreading {:.1f}, on GoEmotions FixMatch {:.1f}.".format(*down) in text
    assert f"by {ahead_before.mean:.1f}." in text
    assert f"level ({said(over_ten('fixmatch', 'jointmatch', 'goemotions'))} ahead)" in text
    assert not leads["goemotions"].is_real
    assert f"ahead by {said(over_ten('jointmatch', 'fixmatch', 'goemotions', 'macro_f1'))}" in text
    both = [over_ten("jointmatch, and words", "fixmatch, and words", data) for data in again.experiment.data]
    assert [difference.is_real for difference in both] == [True, True, False, True]
    assert "ahead by {:.1f}, {:.1f} and {:.1f} over".format(*(d.mean for d in both if d.is_real)) in text
