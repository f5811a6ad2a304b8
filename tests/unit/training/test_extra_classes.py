"""Classes that exist while training only."""

import numpy as np
import pytest
import torch

from jointmatch.config import NetworkConfig
from jointmatch.model import Model
from jointmatch.training import Loop, build_heads
from jointmatch.training.statistics import PseudoLabelCounts
from jointmatch.types import PseudoLabels
from tests.unit.training.toy import CLASSES, Recorder, tiny_run, toy_features, toy_learner, toy_updater

MARGINMATCH = {"name": "marginmatch", "tau": 0.4, "virtual_share": 0.2, "virtual_begin": 0.0}


def test_the_method_sees_every_output_and_whoever_scores_the_classes_alone():
    made = toy_updater("marginmatch", settings={"virtual_begin": 0.0})
    seen = {}
    for name in ("pseudo_label", "supervised_loss", "unsupervised_loss"):
        inner = getattr(made.algorithm, name)
        setattr(made.algorithm, name, lambda x, *rest, n=name, f=inner: seen.update({n: x.shape[-1]}) or f(x, *rest))
    made.step(0)
    assert seen == dict.fromkeys(("pseudo_label", "supervised_loss", "unsupervised_loss"), CLASSES + 1)
    for part in ("dev", "pool"):
        assert made.learner.part_logits(made.learner.networks, part).shape[-1] == CLASSES
    assert made.learner.predict_proba(toy_features().parts["dev"]).shape == (9, CLASSES)  # type: ignore[attr-defined]


def test_what_is_scored_does_not_depend_on_the_extra_output():
    learner = toy_learner(extra=1)
    before = learner.part_logits(learner.networks, "dev")
    for head in learner.heads.each():
        torch.nn.init.constant_(head.classify.bias[-1:], 99.0)
    assert torch.equal(learner.part_logits(learner.networks, "dev"), before)
    assert learner.predict_proba(toy_features().parts["dev"]).sum(-1) == pytest.approx(np.ones(9))


def test_the_loop_scores_and_keeps_what_it_should():
    made = toy_updater("marginmatch", steps=20, average_decay=0.5, settings={"tau": 0.4, "virtual_share": 0.2})
    trained = Loop(made, Recorder(), {"dev": np.arange(9) % 3}).run()
    assert trained.history[-1]["dev_accuracy"] > 0.6
    assert np.shape(trained.history[0]["thresholds"]) == (2, CLASSES)


def test_a_label_of_an_extra_class_is_counted_as_not_selected():
    """Two networks, three texts: selected 0, extra, 1 and 2, -, 1. Four of six are of a class; against 0 1 1 three of
    them are right.
    """
    counts = PseudoLabelCounts(3)
    selected = torch.tensor([[True, True, True], [True, False, True]])
    labels = PseudoLabels(torch.tensor([[0, 3, 1], [2, 3, 1]]), selected, torch.ones(2, 3))
    counts.add_labels(labels, torch.tensor([0, 1, 1]))
    record = counts.flush()
    assert record["selected"] == pytest.approx(4 / 6)
    assert record["selected_per_class"] == pytest.approx([1 / 6, 2 / 6, 1 / 6])
    assert record["pseudo_label_accuracy"] == 0.75


def test_heads_start_at_the_prototypes_of_the_classes_and_the_extra_output_at_random():
    features = toy_features()
    config = NetworkConfig(head_init="prototype", normalize=True)
    plain, more = (build_heads(features, config, CLASSES, 0, extra) for extra in (0, 1))
    assert more.shape.num_classes == CLASSES
    for one, other in zip(plain.each(), more.each(), strict=True):
        assert other.classify.weight.shape[0] == CLASSES + 1
        assert other.classify.weight.isfinite().all()
        torch.testing.assert_close(other.classify.weight[:CLASSES], one.classify.weight)


@pytest.mark.parametrize("mode", ["lite", "full"])
@pytest.mark.parametrize("warm_start", [False, True])
def test_the_model_has_the_classes_alone_and_can_be_saved(tiny_backbone, tmp_path, mode, warm_start):
    settings = {"algorithm": MARGINMATCH, "training": {"mode": mode, "warm_start": warm_start}}
    outcome = tiny_run(tiny_backbone, settings)
    heads = outcome.model.networks.heads
    assert {head.classify.weight.shape[0] for head in heads.each()} == {3}
    assert heads.shape.extra == 0
    outcome.model.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    texts = ["some text", "another one"]
    np.testing.assert_array_equal(loaded.predict_proba(texts), outcome.model.predict_proba(texts))
    assert loaded.predict_proba(texts).shape == (2, 3)


def test_the_model_scores_what_training_scored(tiny_backbone):
    outcome = tiny_run(tiny_backbone, {"algorithm": MARGINMATCH, "training": {"mode": "lite"}})
    best = max(record["dev_accuracy"] for record in outcome.history)
    assert outcome.result["scores"]["dev"]["accuracy"] == best
