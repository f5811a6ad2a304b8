"""What a run says before it starts."""

import pytest

from jointmatch.data import Splits, Texts
from jointmatch.job import Job
from jointmatch.networks import tokens
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


def test_seeds_that_draw_other_labels_say_the_same_of_their_texts(tiny_backbone, monkeypatch):
    """Of which they look at two: in the order of one seed both are short, in the other's both too long."""
    monkeypatch.setattr(tokens, "SAMPLE", 2)
    texts = ["apple plum", "iron zinc and tin and gold", "peach grape", "gold tin and iron and zinc"]
    settings = {"training": {"mode": "lite"}, "network": {"backbone": str(tiny_backbone), "max_length": 5}}
    said = []
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        labeled, pool = ([texts[i] for i in part] for part in (order[:2], order[2:]))
        listener = Recorder()
        Job(Splits(["a", "b"], Texts(labeled, [0, 1]), Texts(pool, [-1, -1])), settings, None, listener, resume=False)
        said.append([note for note in listener.notes if "is not read" in note or "pieces" in note])
    assert said[0] == said[1] != []
