"""Every algorithm in whole runs, in every mode it can be trained in: the tiny BERT, and heads on its features."""

import math

import numpy as np
import pytest

from jointmatch.algorithms import ALGORITHMS
from jointmatch.algorithms.catalogue import MODES
from jointmatch.errors import Interrupted
from jointmatch.model import Model
from jointmatch.run import Outcome
from jointmatch.training import Listener
from tests.unit.training.toy import StopAt, same_state, tiny_run

STEPS, STOP = 4, 2
TEXTS = ["a banana and a plum", "old iron"]
SUITED = [(name, mode) for name in sorted(ALGORITHMS) for mode in MODES if mode not in ALGORITHMS[name].unsuited]


@pytest.mark.parametrize(("name", "mode"), SUITED, ids=lambda word: word)
def test_it_trains_and_a_stopped_run_goes_on_bit_for_bit(tiny_backbone, tmp_path, name, mode):
    settings = {
        "algorithm": {"name": name},
        "training": {"mode": mode, "steps": STEPS},
        "augment": {"weak": "none", "strong": ["deletion:0.2", "swap:0.2"]},
    }

    def go(folder=None, listener: Listener | None = None, resume: bool = False) -> Outcome:
        return tiny_run(tiny_backbone, settings, folder, listener, resume)

    whole = go()
    assert whole.result["steps"] == STEPS
    assert all(math.isfinite(record["loss"]) for record in whole.history)

    with pytest.raises(Interrupted):
        go(tmp_path, StopAt(STOP))
    resumed = go(tmp_path, resume=True)
    assert resumed.history == whole.history
    assert same_state(resumed.model.networks, whole.model.networks)

    probabilities = Model.load(tmp_path / "model").predict_proba(TEXTS)
    np.testing.assert_array_equal(probabilities, whole.model.predict_proba(TEXTS))
    assert probabilities.shape == (len(TEXTS), 3)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-6)
