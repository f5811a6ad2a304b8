"""The measurement of what the reader's choices are worth, on a tiny backbone."""

import json

import benchmarks.word_reader as measured
from tests.unit.test_words_in_runs import splits


def test_every_choice_is_scored_for_every_seed_and_sets_are_added(tiny_backbone, tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "splits_of", lambda cell, data_dir: splits())
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
    assert rows["words alone"][0] > 0.9
    assert result["machine"]["device"]
