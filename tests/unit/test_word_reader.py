"""The measurement of what the reader's choices are worth, on a tiny backbone."""

import json
from dataclasses import replace

import benchmarks.word_reader as measured
from jointmatch.data import Texts
from tests.unit.test_words_in_runs import CLASSES, NAMES, splits


def test_every_choice_is_scored_for_every_seed_and_sets_are_added(tiny_backbone, tmp_path, monkeypatch):
    given = splits()
    given = replace(given, pool=replace(given.pool, labels=[CLASSES.index(name) for name in NAMES[90:]]))
    monkeypatch.setattr(measured, "splits_of", lambda cell, data_dir: given)
    target = tmp_path / "words.json"
    for data in ("hurricane", "trec"):
        options = ["--data-dir", "nowhere", "--data", data, "--seeds", "2", "--result", str(target)]
        measured.main([*options, "--backbone", str(tiny_backbone)])
    result = json.loads(target.read_text(encoding="utf-8"))
    assert set(result["sets"]) == {"hurricane", "trec"}
    rows = result["sets"]["trec"]
    asked = {"networks alone", "words alone", "arithmetic mean", *measured.CHANGES, "250 texts", "round 3"}
    assert asked <= set(rows)
    assert "500 texts" not in rows  # the pool has no more than that
    assert all(len(values) == 2 for values in rows.values())
    assert rows["texts"] == [500, 500]
    assert result["machine"]["device"]
    assert rows["words alone"][0] > 0.9
    assert rows["class shares by half"] == rows["as it is"]
    assert {
        f"{kind}: {name}" for kind in measured.POOLS_UNLIKE for name in ("networks alone", *measured.SHARES)
    } <= set(rows)
    assert rows["lacking: networks alone"] == [None, None]  # of 500 texts too few are left


def test_half_of_the_classes_are_taken_out_of_the_pool_and_nowhere_else():
    """Of three classes one, another for another seed."""
    labels = [i % 3 for i in range(60)]
    given = replace(splits(60), pool=Texts([str(i) for i in range(60)], labels))
    gone = set()
    for seed in range(8):
        thin = measured._lacking(given, seed)
        left = set(thin.pool.labels)
        assert len(left) == 2
        assert len(thin.pool) == 40
        assert thin.dev == given.dev
        gone |= {0, 1, 2} - left
    assert gone == {0, 1, 2}
