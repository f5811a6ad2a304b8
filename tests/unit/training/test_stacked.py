"""Whole runs with the networks stacked: the same training as with networks apart, told in the same folders."""

import json
import shutil
from typing import Any

import numpy as np
import pytest
import torch

from jointmatch.algorithms import ALGORITHMS
from jointmatch.assembly import Assembly
from jointmatch.config import AugmentConfig, TrainingConfig, merge
from jointmatch.errors import InputError, Interrupted
from jointmatch.model import Model
from jointmatch.networks import Encoder, Heads, HeadShape, Networks, StackedEncoders, find_backbone, load_transformer
from jointmatch.resolve import resolve
from jointmatch.training import FullLearner, Views
from jointmatch.training.optimizer import build_optimizer, clip
from tests.unit.training.toy import Recorder, StopAt, same_state, tiny_run, topic_splits

TEXTS = ["a banana and a plum", "old iron"]
FULL = [name for name in sorted(ALGORITHMS) if "full" not in ALGORITHMS[name].unsuited]


def changed(source, target, **settings):
    """A copy of a saved backbone with other settings."""
    shutil.copytree(source, target)
    config = json.loads((target / "config.json").read_text())
    (target / "config.json").write_text(json.dumps(config | settings))
    return target


@pytest.fixture(scope="module")
def still_backbone(tiny_backbone, tmp_path_factory):
    """The tiny BERT without dropout: nothing is left to chance."""
    folder = tmp_path_factory.mktemp("backbones") / "still"
    return changed(tiny_backbone, folder, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)


def trained(backbone, stacked, settings: dict[str, dict[str, Any]] | None = None, *args, **kwargs):
    base: dict[str, dict[str, Any]] = {
        "training": {"mode": "full", "steps": 4, "learning_rate": 1e-3, "precision": "fp32"},
        "network": {"stacked": stacked, "head_dropout": 0.0},
        "augment": {"weak": "none", "strong": ["deletion:0.2", "swap:0.2"]},
    }
    return tiny_run(backbone, merge(base, settings or {}), *args, **kwargs)


def check_same_curve(backbone, settings: dict[str, dict[str, Any]]):
    apart, stacked = (trained(backbone, how, settings) for how in ("off", "on"))
    assert apart.history
    for one, other in zip(apart.history, stacked.history, strict=True):
        assert one.get("loss", 0) == pytest.approx(other.get("loss", 0), rel=1e-4, abs=1e-5)
        assert {k: v for k, v in one.items() if k.startswith(("dev_acc", "selected"))} == {
            k: v for k, v in other.items() if k.startswith(("dev_acc", "selected"))
        }
    np.testing.assert_allclose(stacked.model.network_probs(TEXTS), apart.model.network_probs(TEXTS), atol=1e-4)


@pytest.mark.parametrize("average_decay", [0.0, 0.9])
@pytest.mark.parametrize("update", ["joint", "alternating"])
@pytest.mark.parametrize("name", ["jointmatch", "fixmatch"])
def test_training_takes_the_same_course(still_backbone, name, update, average_decay):
    training = {"update": update, "average_decay": average_decay, "clip_norm": 0.5, "steps": 6}
    check_same_curve(still_backbone, {"algorithm": {"name": name}, "training": training})


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        ("network", {"freeze_embeddings": True}),
        ("network", {"layers": [1.0, 0.5]}),
        # The tiny BERT's first tokens hardly differ: normalised, their rounding would show.
        ("network", {"pooling": "first", "normalize": False}),
        ("network", {"count": 3}),
        ("augment", {"strong_per_network": ["none", "masking:0.4"]}),
        ("training", {"accumulate": 3}),
        ("training", {"warm_start": True}),
    ],
    ids=str,
)
def test_it_does_whatever_else_is_set(still_backbone, section, settings):
    check_same_curve(still_backbone, {section: settings})


@pytest.mark.parametrize("name", FULL)
def test_every_algorithm_takes_the_same_course(still_backbone, name):
    check_same_curve(still_backbone, {"algorithm": {"name": name}, "training": {"steps": 2}})


@pytest.mark.parametrize("average_decay", [0.0, 0.9])
def test_a_stopped_run_goes_on_bit_for_bit(tiny_backbone, tmp_path, average_decay):
    settings = {"training": {"average_decay": average_decay}, "network": {"head_dropout": 0.2, "feature_cutoff": 0.1}}
    whole = trained(tiny_backbone, "on", settings)
    with pytest.raises(Interrupted):
        trained(tiny_backbone, "on", settings, tmp_path, StopAt(2))
    resumed = trained(tiny_backbone, "on", settings, tmp_path, resume=True)
    assert resumed.history == whole.history
    assert same_state(resumed.model.networks, whole.model.networks)
    loaded = Model.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), whole.model.predict_proba(TEXTS))


def test_bf16_is_close_to_fp32(tiny_backbone):
    exact, coarse = (
        trained(tiny_backbone, "on", {"training": {"precision": precision}}) for precision in ("fp32", "bf16")
    )
    assert exact.history != coarse.history
    np.testing.assert_allclose(coarse.model.network_probs(TEXTS), exact.model.network_probs(TEXTS), atol=0.05)


def test_dropout_is_there_and_another_seed_gives_another_course(tiny_backbone, still_backbone):
    first = trained(tiny_backbone, "on")
    assert trained(tiny_backbone, "on").history == first.history
    assert trained(still_backbone, "on").history != first.history
    assert trained(tiny_backbone, "on", {"training": {"seed": 1}}).history != first.history


def test_a_model_folder_is_the_same_in_either_form(still_backbone, tmp_path):
    for how in ("off", "on"):
        trained(still_backbone, how, None, tmp_path / how)
    apart, stacked = (
        {p.relative_to(tmp_path / how / "model") for p in (tmp_path / how / "model").rglob("*")}
        for how in ("off", "on")
    )
    assert apart == stacked
    one, other = (Model.load(tmp_path / how / "model").predict_proba(TEXTS) for how in ("off", "on"))
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_a_checkpoint_of_the_other_form_is_refused(tiny_backbone, tmp_path):
    with pytest.raises(Interrupted):
        trained(tiny_backbone, "on", None, tmp_path, StopAt(2))
    with pytest.raises(InputError, match="was written with other settings"):
        trained(tiny_backbone, "off", None, tmp_path, resume=True)


def test_words_are_cut_where_that_is_set(still_backbone):
    whole, cut = (trained(still_backbone, "on", {"network": {"feature_cutoff": rate}}) for rate in (0.0, 0.5))
    assert whole.history != cut.history


def test_a_backbone_that_cannot_be_stacked_is_trained_apart_and_told(tiny_backbone, tmp_path):
    other = changed(tiny_backbone, tmp_path / "relu", hidden_act="relu")
    listener = Recorder()
    stacked = trained(other, "on", None, None, listener)
    assert [note for note in listener.notes if "stacked" in note] == [
        "The encoders are not stacked: its activation is 'relu', wanted 'gelu'."
    ]
    apart = trained(other, "off")
    assert stacked.history == apart.history
    assert same_state(stacked.model.networks, apart.model.networks)


def test_a_shared_encoder_is_not_stacked_and_told(tiny_backbone):
    listener = Recorder()
    trained(tiny_backbone, "on", {"algorithm": {"name": "multimatch"}}, None, listener)
    assert "The encoders are not stacked: the networks share one." in listener.notes


@pytest.mark.parametrize(
    ("stacked", "reason"),
    [("off", "only of stacked encoders"), ("on", "it pays on a GPU only, and this is cpu")],
)
@pytest.mark.parametrize(
    ("setting", "what"), [("compiled", "Layers are not compiled"), ("fused", "Kernels of our own are not used")]
)
def test_what_was_to_be_compiled_or_fused_and_is_not_is_told(tiny_backbone, stacked, reason, setting, what):
    listener = Recorder()
    settings: dict[str, dict[str, Any]] = {"network": {setting: "on"}, "training": {"steps": 1}}
    trained(tiny_backbone, stacked, settings, None, listener)
    assert [note for note in listener.notes if what in note] == [f"{what}: {reason}."]


def asked_for(
    backbone, monkeypatch, kind: str, network: dict[str, Any], runs: int = 1, has_bf16: bool = True
) -> set[str]:
    """What a stack is asked to do on a device of a kind, which this machine need not have."""
    asked = set()
    monkeypatch.setattr(StackedEncoders, "fuse", lambda self, tell: asked.add("fused"))
    monkeypatch.setattr(StackedEncoders, "compile_layers", lambda self, tell: asked.add("compiled"))
    monkeypatch.setattr(StackedEncoders, "to", lambda self, device: self)
    monkeypatch.setattr("jointmatch.assembly.why_not_compiled", lambda device: None)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **settings: has_bf16)
    training = {"mode": "full", "steps": 1000}
    settings = {"network": {"backbone": str(backbone), **network}, "training": training}
    assembly = Assembly(topic_splits(), resolve(settings, "full"), settings, Recorder())
    encoders = [assembly._encoder([1.0]) for _ in range(2)]
    assembly.device, assembly.runs = torch.device(kind), runs
    assembly._stacked(encoders, 0.0)
    return asked


@pytest.mark.parametrize(
    ("kind", "wanted", "has_bf16", "fused"),
    [
        ("cuda", "auto", True, True),
        ("cuda", "auto", False, False),  # they have been timed in bf16 alone
        ("cuda", "on", False, True),
        ("cuda", "off", True, False),
        ("cpu", "auto", True, False),
    ],
)
def test_kernels_of_our_own_are_used_by_themselves_in_bf16(tiny_backbone, monkeypatch, kind, wanted, has_bf16, fused):
    asked = asked_for(tiny_backbone, monkeypatch, kind, {"fused": wanted}, has_bf16=has_bf16)
    assert ("fused" in asked) is fused


@pytest.mark.parametrize(("runs", "compiled"), [(2, False), (3, True)])
def test_layers_are_compiled_where_all_runs_take_many_steps(tiny_backbone, monkeypatch, runs, compiled):
    """1,000 steps each; a layer has 16 x (48 + 16 + 32 + 32) weights, 48 + 16 + 32 + 16 biases and norms of 4 x 16."""
    monkeypatch.setattr("jointmatch.assembly.MUCH", 2 * (2048 + 112 + 64) * 2500)
    assert ("compiled" in asked_for(tiny_backbone, monkeypatch, "cuda", {}, runs)) is compiled


@pytest.mark.parametrize(("how", "times"), [("auto", 1), ("on", 1), ("off", 0)])
def test_networks_are_stacked_by_themselves_on_a_cpu_too(tiny_backbone, how, times, monkeypatch):
    stacked: list[object] = []
    make = StackedEncoders.of
    monkeypatch.setattr(StackedEncoders, "of", lambda *args: (stacked.append(args), make(*args))[1])  # type: ignore[func-returns-value]
    trained(tiny_backbone, how, {"training": {"steps": 1}})
    assert len(stacked) == times


@pytest.fixture
def learner(tiny_backbone):
    encoders = [Encoder(load_transformer(find_backbone(str(tiny_backbone))), [1.0], "mean") for _ in range(2)]
    networks = Networks(StackedEncoders.of(encoders), Heads(HeadShape(16, 3), 2))
    return FullLearner(topic_splits(), networks, None, Views(AugmentConfig(), 0), torch.device("cpu"), None)  # type: ignore[arg-type]


def test_vectors_have_no_weight_decay_though_they_are_stacked(learner):
    optimizer = build_optimizer(learner, TrainingConfig(learning_rate=1e-5, head_learning_rate=1e-3, weight_decay=0.1))
    names = {id(p): name for name, p in learner.networks.named_parameters()}
    decayed = {names[id(p)] for g in optimizer.param_groups if g["weight_decay"] for p in g["params"]}
    vectors = {name for name in names.values() if "norm." in name or name.endswith("bias")}
    assert decayed == set(names.values()) - vectors
    rates = {names[id(p)]: g["lr"] for g in optimizer.param_groups for p in g["params"]}
    assert {name for name, rate in rates.items() if rate == 1e-3} == {n for n in rates if n.startswith("heads")}


def test_each_network_in_a_stack_is_clipped_on_its_own(learner):
    """The first network's gradients are all 1, their norm is the root of their number; the second's are tiny."""
    for parameter in learner.networks.encoders.parameters():
        parameter.grad = torch.ones_like(parameter)
        parameter.grad[1] = 1e-6
    clip(learner.per_network(), 1.0)
    size = sum(parameter[0].numel() for parameter in learner.networks.encoders.parameters())
    for parameter in learner.networks.encoders.parameters():
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad[0], torch.full_like(parameter.grad[0], size**-0.5))
        assert torch.equal(parameter.grad[1], torch.full_like(parameter.grad[1], 1e-6))
