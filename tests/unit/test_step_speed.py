"""The benchmark of one outer step, at sizes that take seconds."""

import json

from benchmarks.step_speed import main


def test_every_way_is_timed_and_told_with_its_machine(tmp_path):
    target = tmp_path / "speed.json"
    sizes = ["--shapes", "tiny", "--batch", "2", "--mu", "2", "--length", "6", "--turns", "2", "--device", "cpu"]
    main([*sizes, "--ways", "apart", "stacked", "--output", str(target)])
    result = json.loads(target.read_text(encoding="utf-8"))
    assert [(row["precision"], row["way"]) for row in result["steps"]] == [
        ("fp32", "apart"),
        ("fp32", "stacked"),
        ("bf16", "apart"),
        ("bf16", "stacked"),
    ]
    assert all(row["ms"] > 0 for row in result["steps"])
    assert result["steps"][0]["times_faster"] == 1.0
    assert result["machine"]["device"]
