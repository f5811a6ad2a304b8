"""What a run says before it starts."""

from typing import Any

import numpy as np
import pytest

from jointmatch.data import Splits, Texts
from jointmatch.errors import Interrupted
from jointmatch.job import Job
from jointmatch.model import Model
from jointmatch.networks import tokens
from tests.unit.training.toy import Recorder, StopAt, tiny_run


@pytest.mark.parametrize(
    ("max_length", "said"),
    [
        (4, "are longer than 4 tokens; their middle is not read; --set network.max_length=8 reads"),
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


def job_of(backbone, long: int, **network) -> Job:
    """Eleven texts, some of them longer than the twenty tokens that are read."""
    texts = [f"apple plum {'and iron ' * 9 * (i < long)}{'gold ' * i}" for i in range(11)]
    splits = Splits(["a", "b"], Texts(texts[9:], [0, 1]), Texts(texts[:9], [-1] * 9))
    settings = {
        "training": {"mode": "lite", "steps": 2, "recipe": network.pop("recipe", "best")},
        "network": {"backbone": str(backbone), "max_length": 20, **network},
        "output": {"baselines": False},
    }
    return Job(splits, settings, None, Recorder(), resume=False)


@pytest.mark.parametrize(
    ("long", "network", "cut"),
    [
        (3, {}, "middle"),
        (2, {}, "end"),
        (3, {"cut": "end"}, "end"),
        (0, {"cut": "middle"}, "middle"),
        (3, {"recipe": "paper"}, "end"),
    ],
)
def test_where_many_texts_are_long_recipe_best_reads_both_their_ends(tiny_backbone, long, network, cut):
    assert job_of(tiny_backbone, long, **network).assembly.tokenizer.cut == cut


@pytest.mark.parametrize("cut", ["end", "middle"])
def test_a_saved_model_reads_of_a_long_text_what_it_was_trained_on(tiny_backbone, tmp_path, cut):
    model = job_of(tiny_backbone, 3, cut=cut).run().model
    model.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    one, other = ("apple " * 10 + middle + "gold " * 10 for middle in ("", "plum " * 30))
    for own in (model, loaded):
        probs = own.predict_proba([one, other, "apple " * 10 + "plum " * 40])
        assert np.allclose(probs[0], probs[1], atol=1e-6) == (cut == "middle")
        assert np.allclose(probs[1], probs[2], atol=1e-6) == (cut == "end")
    assert f"the {cut} is not read" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")


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


def test_a_resumed_run_still_knows_how_its_heads_divided_the_pool(tiny_backbone, tmp_path, monkeypatch):
    """Else it could not tell that one class has swallowed the others since."""
    monkeypatch.setattr("jointmatch.job.FEWEST", 1)
    asked: list[np.ndarray] = []
    monkeypatch.setattr("jointmatch.job.swallowed", lambda before, *rest: asked.append(before))
    settings: dict[str, dict[str, Any]] = {"training": {"mode": "full", "warm_start": True}}
    tiny_run(tiny_backbone, settings, dev=False)
    with pytest.raises(Interrupted):
        tiny_run(tiny_backbone, settings, tmp_path, StopAt(3), dev=False)
    tiny_run(tiny_backbone, settings, tmp_path, resume=True, dev=False)
    whole, resumed = asked
    np.testing.assert_array_equal(whole, resumed)
