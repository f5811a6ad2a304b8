"""What a run says before it starts."""

import pytest

from tests.unit.training.toy import Recorder, tiny_run


@pytest.mark.parametrize(
    ("max_length", "said"),
    [
        (
            4,
            "have more than 4 tokens, of which the rest is not read; --set network.max_length=8 reads",
        ),
        (64, None),
    ],
)
def test_texts_that_are_not_read_to_their_end_are_told(tiny_backbone, max_length, said):
    listener = Recorder()
    settings = {"training": {"mode": "lite"}, "network": {"max_length": max_length}}
    tiny_run(tiny_backbone, settings, listener=listener)
    found = [note for note in listener.notes if "is not read" in note]
    assert len(found) == (said is not None)
    assert not said or said in found[0]
