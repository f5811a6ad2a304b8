"""Training with views that need the run's backbone or its corpus."""

import json

import pytest

from tests.end_to_end.conftest import FAST


def train(command, toy, backbone, tmp_path, spec):
    words = ("--backbone", backbone, *FAST, "--set", f'augment.strong=["{spec}"]', "--set", "output.baselines=false")
    ran = command("train", toy / "train.csv", "--output", tmp_path / "run", *words, "--json")
    assert ran.code == 0, ran.err
    return ran.err, json.loads(ran.out)


@pytest.mark.parametrize("spec", ["mlm:0.3", "tfidf:0.3", "tfidf:0.2+cutoff:0.2", "mlm:0.2|insertion:0.2"])
def test_train_makes_such_views_by_itself(command, toy, masked_backbone, tmp_path, spec):
    told, _ = train(command, toy, masked_backbone, tmp_path, spec)
    assert spec in told
    assert "instead" not in told


def test_train_says_when_the_backbone_cannot(command, toy, tiny_backbone, tmp_path):
    told, _ = train(command, toy, tiny_backbone, tmp_path, "mlm:0.3")
    assert "mlm:0.3 needs a backbone with a masked-language-model head" in told
    assert "deletion:0.1+swap:0.1 is used instead" in told


def test_augment_asks_the_backbone_that_is_named(command, toy, masked_backbone, tiny_backbone, tmp_path):
    words = ("augment", toy / "train.csv", "--strong", "mlm:0.3", "--json", "--backbone")
    made = command(*words, masked_backbone, "--output", tmp_path / "views.csv")
    assert made.code == 0, made.err
    assert json.loads(made.out)[0]["changed"] == 60
    refused = command(*words, tiny_backbone)
    assert refused.code == 2
    assert "mlm:0.3 needs a backbone with a masked-language-model head, which" in refused.err
