"""A class that takes the pool over, told where no dev part would show it."""

import numpy as np
import pytest

from jointmatch import job
from jointmatch.algorithms import ALGORITHMS
from jointmatch.algorithms.fixmatch import FixMatch
from jointmatch.collapse import shares, swallowed
from jointmatch.job import Outcome
from tests.unit.training.toy import tiny_run


def test_shares_are_of_what_the_networks_say_together():
    """Means of three texts: (.5, .5) is the first class's, (.35, .65), (.9, .1)."""
    probs = np.array([[[0.6, 0.4], [0.2, 0.8], [0.9, 0.1]], [[0.4, 0.6], [0.5, 0.5], [0.9, 0.1]]])
    np.testing.assert_allclose(shares(probs), [2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ([0.5, 0.5], [0.99, 0.01], True),
        ([0.5, 0.5], [0.89, 0.11], False),  # not nearly all
        ([0.7, 0.3], [0.99, 0.01], False),  # it was most of the pool before
        ([0.6, 0.4], [0.05, 0.95], True),
        ([0.3, 0.3, 0.4], [0.3, 0.3, 0.4], False),
    ],
)
def test_a_class_that_grew_until_nearly_nothing_else_is_left_is_told_of(before, after, told):
    found = swallowed(np.array(before), np.array(after), ["good", "bad", "other"], aligns=True)
    assert (found is not None) is told
    if found:
        assert ("'good'" in found) is (after[0] > 0.5)
        assert f"{100 * max(after):.0f} % of the unlabelled" in found


class Insistent(FixMatch):
    """Takes every text of the pool for the first class."""

    name = "insistent"

    def probabilities(self, weak_logits):
        probs = super().probabilities(weak_logits) * 0
        probs[..., 0] = 1
        return probs


@pytest.fixture
def insisted(tiny_backbone, monkeypatch):
    monkeypatch.setitem(ALGORITHMS._entries, "insistent", Insistent)
    monkeypatch.setattr(job, "FEWEST", 5)

    def go(mode: str, dev: bool = False, warm_start: bool = True, **network: str) -> Outcome:
        training = {"mode": mode, "warm_start": warm_start, "steps": 30, "learning_rate": 0.05}
        settings = {"algorithm": {"name": "insistent", "unlabeled_weight": 50.0}, "training": training}
        return tiny_run(tiny_backbone, settings | {"network": network}, dev=dev)

    return go


def test_what_a_method_does_not_have_is_not_advised():
    with_it, without = (swallowed(np.array([0.5, 0.5]), np.array([1.0, 0.0]), "ab", aligns) for aligns in (True, False))
    assert "algorithm.alignment" in str(with_it)
    assert "unlabeled_weight." in str(without)
    assert "alignment" not in str(without)


def told(outcome: Outcome) -> bool:
    return any("reinforced each other's mistakes" in text for text in outcome.result["warnings"])


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_a_run_without_dev_warns_of_it(insisted, mode):
    assert told(insisted(mode))
    assert not told(insisted(mode, dev=True))  # where every evaluation shows it


def test_where_heads_begin_at_random_nothing_is_compared(insisted):
    assert not told(insisted("lite", head_init="random"))
    assert not told(insisted("full", warm_start=False))
