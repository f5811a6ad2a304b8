"""A process that is fed text by text never mixes them up, and is started again when it fails."""

import os
import sys
import time
from pathlib import Path

import pytest

from jointmatch.augment.translation.apertium import EngineDown, carry
from jointmatch.augment.translation.pipeline import Pipeline, PipelineBroken

FAKE = Path(__file__).with_name("fake_apertium.py")


@pytest.fixture
def calls(tmp_path) -> Path:
    return tmp_path / "calls"


@pytest.fixture
def pipeline(calls):
    made = Pipeline([sys.executable, "-S", str(FAKE), str(calls)], patience=0.5)
    yield made
    made.close()


def process_id(pipeline: Pipeline) -> int:
    assert pipeline._process
    return pipeline._process.pid


def test_answers_come_in_the_order_of_the_texts_and_from_one_process(pipeline):
    assert pipeline.translate([f"big {i}" for i in range(200)]) == [f"large {i}" for i in range(200)]
    first = process_id(pipeline)
    assert pipeline.translate(["a big one", ""]) == ["a large one", ""]
    assert process_id(pipeline) == first


def test_a_primer_goes_before_each_text_and_leaves_no_trace(calls):
    primed = Pipeline([sys.executable, "-S", str(FAKE), str(calls)], patience=0.5, primer="big [p]")
    assert primed.translate(["a big one", "", "small"]) == ["a large one", "", "small"]
    with pytest.raises(PipelineBroken) as broken:
        primed.translate(["big", "it dies", "after"])
    assert broken.value.done == ["large"]
    primed.close()


def test_more_than_a_pipe_holds_goes_through(pipeline):
    long = "big words " * 100_000
    assert pipeline.translate([long, "small"]) == [long.replace("big", "large"), "small"]


def test_a_process_that_dies_hands_back_what_came_before(pipeline):
    with pytest.raises(PipelineBroken) as broken:
        pipeline.translate(["big", "small", "it dies", "after"])
    assert broken.value.done == ["large", "small"]
    assert pipeline.translate(["big"]) == ["large"]


def test_a_process_that_hangs_is_ended_after_its_patience(pipeline):
    start = time.monotonic()
    with pytest.raises(PipelineBroken, match="no answer for"):
        pipeline.translate(["it hangs"])
    assert time.monotonic() - start < 5


def test_an_answer_with_another_number_is_never_taken(pipeline):
    with pytest.raises(PipelineBroken, match="number"):
        pipeline.translate(["misnumbered", "big"])


def test_closing_ends_the_process(pipeline):
    pipeline.translate(["big"])
    gone = process_id(pipeline)
    pipeline.close()
    with pytest.raises(ProcessLookupError):
        os.kill(gone, 0)


def test_a_batch_goes_on_behind_the_text_that_breaks_it(pipeline):
    assert carry(pipeline, ["big", "it dies", "big 2", "it hangs", "big 3"]) == [
        "large",
        None,
        "large 2",
        None,
        "large 3",
    ]


def test_the_text_that_broke_a_batch_is_tried_once_more_alone(pipeline, calls):
    carry(pipeline, ["it dies", "big"])
    assert calls.read_text().count("dies") == 2


def test_an_engine_that_cannot_translate_anything_is_given_up(pipeline, calls):
    (calls.parent / "uninstalled").touch()
    with pytest.raises(EngineDown):
        carry(pipeline, ["big"])
