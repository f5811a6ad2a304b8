"""Every algorithm, whole runs of a few steps on the tiny BERT: trained, kept, loaded and gone on with."""

import pytest
import torch

from jointmatch.algorithms import ALGORITHMS
from jointmatch.errors import Interrupted
from jointmatch.model import Model
from tests.unit.training.toy import StopAt, same_state, tiny_run

TEXTS = ["rain and sun", "a goal in the last minute", "the bank raised rates"]
AUGMENT = {"weak": "deletion:0.1", "strong": ["deletion:0.4"]}
every_way = pytest.mark.parametrize(
    ("name", "mode"),
    [(name, mode) for name in sorted(ALGORITHMS) for mode in ("lite", "full") if mode not in ALGORITHMS[name].unsuited],
)


def settings(name: str, mode: str) -> dict[str, dict]:
    return {"algorithm": {"name": name}, "augment": AUGMENT, "training": {"mode": mode}}


@every_way
def test_it_trains_and_its_model_predicts_alike_when_loaded(tiny_backbone, tmp_path, name, mode):
    outcome = tiny_run(tiny_backbone, settings(name, mode), tmp_path / "run")
    assert outcome.result["steps"] == 6
    assert all(torch.isfinite(p).all() for p in outcome.model.networks.parameters())
    loaded = Model.load(tmp_path / "run" / "model")
    assert (loaded.predict_proba(TEXTS) == outcome.model.predict_proba(TEXTS)).all()


@every_way
def test_a_run_that_was_stopped_goes_on_bit_for_bit(tiny_backbone, tmp_path, name, mode):
    whole = tiny_run(tiny_backbone, settings(name, mode), tmp_path / "whole")
    with pytest.raises(Interrupted):
        tiny_run(tiny_backbone, settings(name, mode), tmp_path / "part", StopAt(3))
    resumed = tiny_run(tiny_backbone, settings(name, mode), tmp_path / "part", resume=True)
    assert same_state(resumed.model.networks, whole.model.networks)
