"""Every algorithm with three seeds side by side: each ends as that seed alone, in every mode it can be trained in."""

import pytest

from jointmatch.algorithms import ALGORITHMS
from jointmatch.algorithms.base import settings_of
from jointmatch.algorithms.catalogue import MODES
from jointmatch.training import LiteLearner
from tests.unit.training.seeds import assert_as_alone, settings_for

SUITED = [
    (name, mode)
    for name in sorted(ALGORITHMS)
    for mode in MODES
    if mode not in ALGORITHMS[name].unsuited and not (mode == "full" and ALGORITHMS[name].shared_encoder)
]


# So that tiny networks select something: what is labelled, and how, must show in the weights.
TRUSTING = {"tau": 0.4, "per_class": 1, "ramp_steps": 0}


@pytest.mark.parametrize(("name", "mode"), SUITED, ids=lambda word: word)
def test_each_seed_ends_as_if_it_were_alone(tiny_backbone, monkeypatch, name, mode):
    monkeypatch.setattr(LiteLearner, "why_not_joined", lambda self: None)  # on a CPU it would not pay
    own = {key: value for key, value in TRUSTING.items() if key in settings_of(name)}
    settings = settings_for(tiny_backbone, mode, {"algorithm": {"name": name, **own}})
    assert_as_alone(settings, selects=ALGORITHMS[name].uses_unlabeled)
