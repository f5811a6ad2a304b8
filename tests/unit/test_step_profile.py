"""Where a step's time goes, at sizes that take seconds."""

from benchmarks.step_profile import idle, main, told

SPANS = [("product", 0.0, 40.0), ("norm", 50.0, 10.0), ("product", 55.0, 25.0), ("copy", 90.0, 10.0)]


def test_nothing_runs_between_spans_that_do_not_touch():
    """From 40 to 50 and from 80 to 90; the norm's end lies inside the second product."""
    assert idle(SPANS) == 20.0


def test_what_took_longest_comes_first_a_step_each():
    """100 us in two steps; the products took 65 of them, two times."""
    lines = told(SPANS, steps=2, rows=2)
    assert lines[0] == "0.05 ms a step, in 0.01 of which nothing runs"
    assert [line.split() for line in lines[2:]] == [["32.5", "1.0", "product"], ["5.0", "0.5", "norm"]]


def test_a_training_step_is_taken_apart():
    small = ["--shape", "tiny", "--way", "stacked", "--batch", "2", "--mu", "2", "--length", "8", "--shortest", "4"]
    lines = main([*small, "--steps", "2", "--seeds", "2", "--rows", "60"])
    assert lines[0] == "tiny_stacked_seeds-2_batch-2_mu-2_length-8_shortest-4"
    assert any(line.endswith("aten::bmm") for line in lines)
