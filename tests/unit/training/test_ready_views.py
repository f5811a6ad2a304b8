"""A view that the run's backbone cannot make is found out before anything is trained."""

import pytest

from jointmatch.augment import Surroundings
from jointmatch.config import AugmentConfig
from jointmatch.training import ready_views

CONFIG = AugmentConfig("none", ("mlm:0.2",))


def test_a_backbone_without_a_masked_language_model_falls_back_and_says_so(tiny_backbone):
    config, (note,) = ready_views(CONFIG, Surroundings(backbone=str(tiny_backbone)))
    assert config.strong == ("deletion:0.1+swap:0.1",)
    assert note.startswith("mlm:0.2 needs a backbone with a masked-language-model head, which")
    assert note.endswith("Until then deletion:0.1+swap:0.1 is used instead.")


def test_a_backbone_with_one_does_not(masked_backbone):
    assert ready_views(CONFIG, Surroundings(backbone=str(masked_backbone))) == (CONFIG, [])


@pytest.mark.parametrize("spec", ["tfidf:0.3", "insertion", "cutoff:0.2"])
def test_those_that_need_nothing_stay(spec):
    config = AugmentConfig(spec, (spec,))
    assert ready_views(config) == (config, [])
