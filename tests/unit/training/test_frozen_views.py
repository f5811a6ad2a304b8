"""Mode full: heads start on features of the views that the recipe's lite part has."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import pytest

from jointmatch.algorithms import ALGORITHMS
from jointmatch.algorithms.fixmatch import FixMatch
from jointmatch.benchmark.cell import _complete
from jointmatch.config import Settings, merge
from jointmatch.resolve import frozen_views, resolve
from jointmatch.run import run
from jointmatch.training import making
from tests.unit.training.toy import tiny_run, topic_splits

FULL = {"mode": "full", "steps": 2, "batch_size": 4, "mu": 1}


@pytest.fixture
def kept(monkeypatch):
    """The augmenters whose views are made once."""
    seen: list[str] = []
    inner = making.ViewMaker._kept
    spy = lambda self, views, augmenter, texts: seen.append(str(augmenter)) or inner(self, views, augmenter, texts)  # type: ignore[func-returns-value]  # noqa: E731
    monkeypatch.setattr(making.ViewMaker, "_kept", spy)
    return seen


@pytest.mark.parametrize("warm_start", [True, False])
def test_they_are_those_of_the_lite_part_or_the_users_own(tiny_backbone, kept, warm_start):
    """Of recipe best none, whatever the whole networks read afterwards."""
    tiny_run(tiny_backbone, {"training": {**FULL, "warm_start": warm_start}})
    assert set(kept) == {"none"}
    kept.clear()
    tiny_run(tiny_backbone, {"training": {**FULL, "warm_start": warm_start}, "augment": {"weak": "deletion:0.3"}})
    assert set(kept) == {"none", "deletion:0.3"}


@pytest.mark.parametrize("warm_start", [True, False])
def test_without_a_pool_settings_of_the_method_asked_for_do_no_harm(tiny_backbone, warm_start):
    splits = topic_splits()
    alone = {"algorithm": {"name": "fixmatch", "tau": 0.9}, "training": {**FULL, "warm_start": warm_start}}
    base: Settings = {"network": {"backbone": str(tiny_backbone), "max_length": 16}, "output": {"baselines": False}}
    outcome = run(replace(splits, pool=splits.pool.rows([])), merge(base, alone))
    assert outcome.config.algorithm.name == "supervised"


def test_a_method_that_lite_does_not_suit_can_be_trained_entirely(tiny_backbone, monkeypatch):
    class Whole(FixMatch):
        name = "whole"
        unsuited: ClassVar[Mapping[str, str]] = {"lite": "it looks at hidden states"}

    monkeypatch.setitem(ALGORITHMS._entries, "whole", Whole)
    outcome = tiny_run(tiny_backbone, {"algorithm": {"name": "whole"}, "training": {**FULL, "warm_start": False}})
    assert outcome.result["steps"] == 2


def test_a_cell_is_another_one_where_they_are_others(tiny_backbone):
    asked: Settings = {"network": {"backbone": str(tiny_backbone)}, "training": {"mode": "full", "warm_start": False}}
    one, other = _complete(asked), _complete({**asked, "training": {**asked["training"], "recipe": "paper"}})
    assert one["frozen_views"] != other["frozen_views"]
    assert "warm_start" not in one


def test_a_method_of_one_view_has_one_there_too(tiny_backbone):
    asked: Settings = {
        "algorithm": {"name": "pseudolabel"},
        "augment": {"weak": "deletion:0.3"},
        "training": {"mode": "full"},
        "network": {"backbone": str(tiny_backbone)},
    }
    assert frozen_views(asked, resolve(asked, "full")).strong == ("deletion:0.3",)
