"""Whole trainings on toy features: the paper's ablations, the ranges of its settings, and who teaches whom."""

import pytest
import torch

from jointmatch import algorithms
from jointmatch.comparison import train_heads
from jointmatch.errors import InputError
from jointmatch.resolve import resolve
from jointmatch.training import FeatureSet, Listener, LiteLearner, Loop
from tests.unit.training.toy import CLASSES, tiny_run, toy_features, toy_learner, toy_updater, weights

NONE_OF_THE_THREE = {"threshold": "fixed", "labelling": "own", "weighting": "uniform"}
BOTH = {"tau": 0.4, "unlabeled_weight": 5.0}


def trained(algorithm="jointmatch", settings=None, learner=None, **training) -> torch.Tensor:
    updater = toy_updater(algorithm, learner=learner or toy_learner(), settings=settings or {}, **training)
    Loop(updater, Listener()).run()
    return weights(updater.learner.networks)


@pytest.mark.parametrize("networks", [1, 2, 3])
def test_without_its_three_ideas_jointmatch_trains_to_fixmatchs_weights(networks):
    mine = trained("jointmatch", {**BOTH, **NONE_OF_THE_THREE}, toy_learner(networks=networks))
    theirs = trained("fixmatch", BOTH, toy_learner(networks=networks))
    assert torch.equal(mine, theirs)
    assert not torch.equal(mine, trained("supervised", learner=toy_learner(networks=networks)))


def test_and_these_are_fixmatch_run_for_each_network_alone():
    together = toy_learner()
    trained("jointmatch", {**BOTH, **NONE_OF_THE_THREE}, together)
    for i in range(2):
        alone, f = toy_learner(), toy_features()
        only = slice(i, i + 1)
        features = FeatureSet(
            f.labeled[only], f.labels, f.weak[only], [s[only] for s in f.strong], {"pool": f.weak[only]}
        )
        heads = toy_learner(networks=1).heads
        heads[0] = alone.heads[i]
        single = LiteLearner(features, heads)
        trained("fixmatch", BOTH, single)
        torch.testing.assert_close(weights(single.heads), weights(together.heads[i]))


@pytest.mark.parametrize("left_out", NONE_OF_THE_THREE)
def test_each_idea_makes_a_difference_of_its_own(left_out):
    with_two = trained("jointmatch", {**BOTH, left_out: NONE_OF_THE_THREE[left_out]})
    assert not torch.equal(with_two, trained("jointmatch", BOTH))


RANGES = [
    *[("algorithm", {"delta": value}) for value in (0, 0.1, 0.5, 0.9, 1)],
    *[("algorithm", {"momentum": value}) for value in (0, 0.5, 0.9, 0.999, 1)],
    *[("algorithm", {"tau": value}) for value in (0, 0.5, 0.95, 0.99)],
    *[("training", {"mu": value}) for value in (1, 3, 10, 30)],
    *[("algorithm", {"delta_rule": value}) for value in ("time", "confidence", "disagreement")],
    *[("algorithm", {"alignment": value}) for value in ("uniform", "estimate")],
    ("algorithm", {"alignment": "given", "balance": [2, 1, 1]}),
    ("algorithm", {"normalize_weights": True, "delta": 1}),
]


@pytest.mark.parametrize(("section", "values"), RANGES)
def test_every_value_of_the_papers_ranges_trains(section, values):
    settings, training = (values, {}) if section == "algorithm" else ({}, values)
    found = trained("jointmatch", settings, **training)
    assert found.isfinite().all()
    assert not torch.equal(found, weights(toy_learner().networks))


def one_sure_network(networks: int, sure: int) -> LiteLearner:
    """One network is certain of every text's true class, the others say 1/3 each."""
    learner = toy_learner(networks=networks)
    with torch.no_grad():
        for i, head in enumerate(learner.heads.each()):
            head.classify.bias.zero_()
            head.classify.weight.copy_(20 * torch.eye(*head.classify.weight.shape) * (i == sure))
    return learner


@pytest.mark.parametrize("networks", [2, 3, 4])
@pytest.mark.parametrize("sure", [0, 1])
@pytest.mark.parametrize("labelling", ["cross", "others"])
def test_a_sure_network_moves_those_it_teaches_and_no_other(networks, sure, labelling):
    """tau 0.5. Ring: the one before it. Others: every other, whose teachers' mean is (1 + (N - 2) / 3) / (N - 1),
    at least 0.55; its own teachers say 1/3.
    """
    settings = {"tau": 0.5, "threshold": "fixed", "weighting": "uniform", "labelling": labelling}
    taught, alone = (one_sure_network(networks, sure) for _ in range(2))
    toy_updater("jointmatch", taught, settings=settings).step(0)
    toy_updater("supervised", alone).step(0)
    moved = [not torch.equal(weights(a), weights(b)) for a, b in zip(taught.heads, alone.heads, strict=True)]
    wanted = {"cross": {(sure - 1) % networks}, "others": set(range(networks)) - {sure}}[labelling]
    assert {i for i, m in enumerate(moved) if m} == wanted


@pytest.mark.parametrize("networks", [2, 3, 4])
@pytest.mark.parametrize("labelling", ["cross", "others"])
def test_any_number_of_networks_learns_the_clusters(networks, labelling):
    learner = toy_learner(networks=networks)
    settings = {"labelling": labelling, "unlabeled_weight": 5.0, "tau": 0.8}
    trained("jointmatch", settings, learner, steps=40)
    right = learner.part_logits(learner.networks, "dev").softmax(-1).mean(0).argmax(-1) == torch.arange(9) % CLASSES
    assert right.float().mean() > 0.8


def test_the_labelled_texts_balance_reaches_the_algorithm(monkeypatch, tiny_backbone):
    """Six labelled texts of three topics in turn: a third each. Heads without the last one: 2, 2 and 1 of 5."""
    tasks = []
    build = algorithms.build

    def spy(name, task, own):
        tasks.append(task)
        return build(name, task, own)

    monkeypatch.setattr(algorithms, "build", spy)
    settings: dict[str, dict] = {"algorithm": {"alignment": "labeled"}, "training": {"mode": "lite", "steps": 1}}
    tiny_run(tiny_backbone, settings)
    f = toy_features()
    train_heads(f.fold(torch.tensor([5])), resolve(settings, "lite"), CLASSES)
    assert tasks[0].labeled_balance == pytest.approx([1 / 3] * 3)
    assert tasks[-1].labeled_balance == pytest.approx([0.4, 0.4, 0.2])


def test_a_balance_that_does_not_fit_the_classes_is_refused_before_anything_is_computed(monkeypatch, tiny_backbone):
    monkeypatch.setattr("jointmatch.assembly.Assembly.features", lambda *_: pytest.fail("features were computed"))
    settings: dict[str, dict] = {
        "algorithm": {"alignment": "given", "balance": [0.5, 0.5]},
        "training": {"mode": "lite"},
    }
    with pytest.raises(InputError, match="balance"):
        tiny_run(tiny_backbone, settings)
