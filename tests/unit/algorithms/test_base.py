"""How many networks a run trains, and what an algorithm of one's own may lack."""

from typing import Any

import pytest

from jointmatch.algorithms import ALGORITHMS, Algorithm, FixMatch, check_settings, networks_of, settings_of
from jointmatch.algorithms.catalogue import entry
from jointmatch.config import build
from jointmatch.errors import ConfigError
from jointmatch.resolve import resolve
from jointmatch.schema import Fraction
from jointmatch.types import PseudoLabels, Task


@pytest.mark.parametrize(
    ("algorithm", "mode", "layers", "count", "wanted"),
    [
        ("fixmatch", "full", [1.0, 0.67], None, 1),  # what the method was made for
        ("jointmatch", "full", [1.0], None, 2),
        ("fixmatch", "lite", [1.0, 0.67], None, 2),  # one for each layer that is read
        ("fixmatch", "lite", [1.0, 1.0], None, 1),
        ("jointmatch", "lite", [1.0], None, 2),
        ("jointmatch", "lite", [1.0, 0.67, 0.33], None, 3),
        ("fixmatch", "lite", [1.0, 0.67], 1, 1),  # as many as it is told
        ("jointmatch", "full", [1.0], 4, 4),
    ],
)
def test_networks_are_as_many_as_told_else_as_the_algorithm_wants_and_in_lite_one_for_each_layer(
    algorithm, mode, layers, count, wanted
):
    network = {"layers": layers} | ({"count": count} if count else {})
    config = build({"algorithm": {"name": algorithm}, "training": {"mode": mode}, "network": network})
    assert networks_of(config) == wanted


@pytest.mark.parametrize(
    ("settings", "fewest"),
    [
        ({"algorithm": {"name": "jointmatch"}}, 2),
        ({"algorithm": {"name": "jointmatch", "labelling": "own"}, "training": {"recipe": "paper"}}, 2),
        ({"algorithm": {"name": "jointmatch", "labelling": "own", "weighting": "uniform"}}, 1),
        ({"algorithm": {"name": "fixmatch"}}, 1),
        ({"algorithm": {"name": "fixmatch", "weighting": "disagreement"}}, 2),
        ({"algorithm": {"name": "decoupling"}}, 2),
        ({"algorithm": {"name": "cotraining"}}, 2),
        ({"algorithm": {"name": "coteaching"}}, 2),
        ({"algorithm": {"name": "coteachingplus"}}, 2),
        ({"algorithm": {"name": "pcm"}}, 2),
        ({"algorithm": {"name": "multimatch"}}, 2),
        ({"algorithm": {"name": "fixmatchensemble"}}, 1),
    ],
)
def test_networks_that_need_each_other_are_not_trained_alone(settings, fewest):
    assert resolve({**settings, "network": {"count": 2}}, "full").network.count == 2
    if fewest == 1:
        assert resolve({**settings, "network": {"count": 1}}, "full").network.count == 1
    else:
        with pytest.raises(ConfigError, match=r"network\.count is 1, wanted at least 2"):
            resolve({**settings, "network": {"count": 1}}, "full")


class Bare(Algorithm):
    """Says nothing of where it comes from."""

    def pseudo_label(self, weak_logits, step):
        confidence, label = weak_logits.softmax(-1).max(-1)
        return PseudoLabels(label, confidence > 0.9, confidence)


class Unannotated(FixMatch):
    def __init__(self, task: Task, *, level=0.5, **common: Any) -> None:
        super().__init__(task, **common)


class Closed(FixMatch):
    def __init__(self, task: Task, *, level: Fraction = 0.5) -> None:
        super().__init__(task)


@pytest.fixture
def registered(monkeypatch):
    def add(cls):
        monkeypatch.setattr(cls, "name", "mine", raising=False)
        monkeypatch.setitem(ALGORITHMS._entries, "mine", cls)

    return add


def test_one_that_names_no_source_is_shown_without(registered):
    registered(Bare)
    assert entry("mine")["reference"] == ""
    assert entry("mine")["idea"].startswith("Says nothing")


def test_a_setting_without_annotation_is_named(registered):
    registered(Unannotated)
    with pytest.raises(ConfigError, match="'level' of mine has no annotation, wanted its type and range"):
        check_settings("mine", {})


def test_settings_that_a_constructor_does_not_hand_on_are_not_offered(registered):
    registered(Closed)
    assert list(settings_of("mine")) == ["level"]
    assert "unlabeled_weight" in check_settings("mine", {"unlabeled_weight": 2.0})[1][0]


def test_the_usual_losses_may_be_parted_and_asked_for_again():
    """Else every method would be kept from micro-batches of labelled texts and pay for copies of its buffers."""
    assert not FixMatch.whole_labels
    assert not FixMatch.notes_losses
