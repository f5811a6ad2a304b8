"""``jointmatch algorithms``: the table, one algorithm, and what does not fit on a line."""

import json
from typing import ClassVar

import pytest
import torch

from jointmatch.algorithms import ALGORITHMS, Algorithm
from jointmatch.algorithms.catalogue import TECHNIQUES
from jointmatch.types import PseudoLabels


@pytest.fixture
def two_dozen():
    """As many algorithms as there will be, with long names and a remark of every kind."""

    class Stand(Algorithm):
        """An idea of ordinary length, told in one plain sentence as the others do it here."""

        reference = "Somebody and Somebody Else 2031, Proceedings"
        rule = "L_u = 0"
        networks = 2
        unsuited: ClassVar = {"lite": "it mixes hidden states"}
        requires: ClassVar = {"training": {"average_decay": 0.99}}
        stated: ClassVar = {"pseudo_labelling": False}
        note = "supervised as published; here its rule picks among pseudo-labels."
        unverified = "Everything."

        def pseudo_label(self, weak_logits, step):
            label = weak_logits.argmax(-1)
            return PseudoLabels(label, label > 0, torch.ones(label.shape))

    names = [f"standinmatch{number:02}" for number in range(24 - len(list(ALGORITHMS)))] or ["standinmatch00"]
    for name in names:
        ALGORITHMS.register(name)(type("Stand", (Stand,), {"__doc__": Stand.__doc__}))
    yield names
    for name in names:
        ALGORITHMS._entries.pop(name)


@pytest.fixture(params=[80, 120])
def columns(request, monkeypatch):
    monkeypatch.setattr("jointmatch.cli.output.width", lambda: request.param)
    return request.param


def test_two_dozen_algorithms_are_one_line_each_in_the_table_at_any_width(command, two_dozen, columns):
    shown = command("algorithms")
    assert shown.code == 0, shown.err
    lines = [line.rstrip() for line in shown.out.splitlines()]
    table = lines[: lines.index(next(line for line in lines if line.strip().startswith("name")))]
    assert max(map(len, table)) <= columns
    rows = {line.split()[0]: line.split()[1:] for line in table if line.split() and line.split()[0] in ALGORITHMS}
    assert set(rows) == set(ALGORITHMS)
    assert all(len(marks) == len(TECHNIQUES) for marks in rows.values())
    assert rows["jointmatch"] == ["yes"] * 7
    assert rows[two_dozen[0]] == ["-*", "yes", "-", "yes", "-", "-", "-"]
    for remark in ("Not in mode lite: ", "Not checked in full against paper or code: "):
        (line,) = [line for line in lines if line.startswith(remark)]
        assert set(two_dozen) <= set(line.removeprefix(remark).rstrip(".").split(", "))
    assert f"* {two_dozen[0]}: supervised as published" in shown.out
    assert ("Zou and Caragea" in shown.out) == (columns == 120)


def test_one_algorithm_shows_all_there_is_to_say(command, two_dozen, columns):
    shown = command("algorithms", two_dozen[0])
    assert max(map(len, shown.out.splitlines())) <= columns
    words = " ".join(shown.out.split())
    for part in (
        "Somebody Else 2031",
        "L_u = 0",
        "weak strong, double networks",
        "full; not lite: it mixes hidden states",
        "training.average_decay = 0.99",
        "supervised as published",
        "Everything.",
        "algorithm.unlabeled_weight",
    ):
        assert part in words


def test_recipes_are_shown_with_what_they_set_for_it(command):
    words = " ".join(command("algorithms", "fixmatch").out.split())
    assert "best lite algorithm.tau = 0.9, algorithm.unlabeled_weight = 5.0" in words
    assert "L_u = mean 1[max q >= tau] H(argmax q, Q)" in words


def test_json_has_a_truth_value_for_every_technique(command):
    found = json.loads(command("algorithms", "--json").out)
    assert [e["name"] for e in found] == sorted(ALGORITHMS)
    assert all(list(e["techniques"]) == list(TECHNIQUES) for e in found)
    assert json.loads(command("algorithms", "jointmatch", "--json").out)["settings"]["tau"] == 0.98


def test_a_misspelt_name_is_the_users_mistake(command):
    shown = command("algorithms", "fixmach")
    assert shown.code == 2
    assert "Did you mean 'fixmatch'?" in shown.err
