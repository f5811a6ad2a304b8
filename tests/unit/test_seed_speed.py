"""The benchmark of several seeds, at sizes that take seconds."""

import json

import pytest

from benchmarks.seed_speed import main


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_both_ways_are_timed_and_told_with_their_machine(tmp_path, mode):
    target = tmp_path / "speed.json"
    sizes = ["--shape", "tiny", "--seeds", "2", "--labeled", "2", "--unlabeled", "3", "--length", "6"]
    main(["--mode", mode, *sizes, "--steps", "2", "--turns", "1", "--device", "cpu", "--output", str(target)])
    result = json.loads(target.read_text(encoding="utf-8"))
    (row,) = result["steps"]
    assert set(row["ms_per_seed_and_step"]) == {"one after another", "side by side"}
    assert row["ratio"] > 0
    assert result["machine"]["device"]
