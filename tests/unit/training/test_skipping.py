"""Texts that no network selected are not forwarded again: less work, the same step."""

import json
import shutil
from typing import Any

import numpy as np
import pytest
import torch

from jointmatch.types import PseudoLabels
from tests.unit.training.test_together import assert_as_alone
from tests.unit.training.toy import tiny_run, toy_learner, toy_updater, weights


def labels(selected, of=None):
    chosen = torch.tensor(selected, dtype=torch.bool)
    return PseudoLabels(torch.zeros_like(chosen).long(), chosen, torch.ones_like(chosen) * 1.0 if of is None else of)


def test_a_text_is_learnt_from_where_some_network_selects_it_and_gives_it_weight():
    """Text 0 is selected by both, 1 by the second, 2 by none, 3 by both with no weight."""
    weights_of = torch.tensor([[1.0, 1.0, 1.0, 0.0], [1.0, 0.5, 1.0, 0.0]])
    found = labels([[1, 0, 0, 1], [1, 1, 0, 1]], weights_of).learnt
    assert found.tolist() == [True, True, False, False]


class Spied:
    """A toy updater whose students' texts are counted."""

    def __init__(self, **training):
        self.read: list[int] = []
        self.updater = toy_updater(learner=toy_learner(), batch_size=4, mu=3, **training)
        inner = self.updater.learner.student_logits

        def student(*args):
            given, others = inner(*args)
            self.read.append(others.shape[1])
            return given, others

        self.updater.learner.student_logits = student  # type: ignore[method-assign]

    def after(self, steps=4):
        for number in range(steps):
            self.updater.step(number)
        return weights(self.updater.learner.networks)


@pytest.mark.parametrize("update", ["joint", "alternating"])
@pytest.mark.parametrize("accumulate", [1, 3, 50])
def test_the_step_is_the_same_and_fewer_texts_are_read(update, accumulate):
    shape = {"update": update, "accumulate": accumulate, "settings": {"tau": 0.8, "unlabeled_weight": 5.0}}
    usual, skipping = Spied(**shape), Spied(skip_unselected=True, **shape)
    torch.testing.assert_close(skipping.after(), usual.after(), atol=1e-5, rtol=1e-4)
    assert sum(usual.read) == 4 * 12
    assert 0 < sum(skipping.read) < sum(usual.read)


@pytest.mark.parametrize("update", ["joint", "alternating"])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_where_nothing_is_selected_the_labelled_texts_alone_are_learnt_from(update, accumulate):
    shape = {"update": update, "accumulate": accumulate, "settings": {"tau": 1.0, "threshold": "fixed"}}
    usual, skipping = Spied(**shape), Spied(skip_unselected=True, **shape)
    torch.testing.assert_close(skipping.after(), usual.after(), atol=1e-5, rtol=1e-4)
    if update == "joint":
        assert not any(skipping.read)


def test_a_method_that_looks_at_unselected_texts_reads_them_all():
    learner = toy_learner(networks=1)
    updater = toy_updater("freematch", learner, skip_unselected=True)
    assert not updater.algorithm.skips_unselected
    assert updater._learnt(labels([[1, 0, 0, 0]]), 4) is None


@pytest.mark.parametrize("stacked", ["off", "on"])
def test_whole_networks_read_the_very_views_they_would_have_read(tiny_backbone, tmp_path, stacked):
    folder = shutil.copytree(tiny_backbone, tmp_path / "undropped")
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    settings: dict[str, dict[str, Any]] = {
        "algorithm": {"tau": 0.6, "threshold": "fixed", "weighting": "uniform"},
        "augment": {"weak": "none", "strong": ["deletion:0.3"]},
        "network": {"head_dropout": 0.0, "stacked": stacked},
    }
    training = {"mode": "full", "learning_rate": 1e-3, "precision": "fp32"}
    found = [
        tiny_run(folder, {**settings, "training": {**training, "skip_unselected": skip}}) for skip in (False, True)
    ]
    usual, skipping = (weights(outcome.model.networks) for outcome in found)
    torch.testing.assert_close(skipping, usual, atol=1e-5, rtol=1e-4)
    shares = [record["selected"] for record in found[0].history]
    assert any(0 < share < 1 for share in np.ravel(shares))


def test_runs_side_by_side_skip_texts_of_their_own():
    assert_as_alone(skip_unselected=True, dropout=0.0)
