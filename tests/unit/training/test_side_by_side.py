"""Whole runs of several seeds side by side: the folders, models and numbers of each seed alone."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import jointmatch.run as run_module
from jointmatch.assembly import Assembly
from jointmatch.cache import Cache
from jointmatch.errors import InputError, Interrupted
from jointmatch.job import Job
from jointmatch.listener import Listener
from jointmatch.model import Model
from jointmatch.networks import features
from jointmatch.seeds import train_seeds
from jointmatch.training import FullLearner, LiteLearner, making
from jointmatch.training.checkpoints import load_checkpoint
from jointmatch.training.joint import Joint
from tests.unit.networks.stacked.rerun import Rerun, recorded
from tests.unit.training import seeds
from tests.unit.training.seeds import (
    SEEDS,
    TEXTS,
    alone,
    assert_alike,
    assert_as_alone,
    settings_for,
    splits_of,
    together,
)
from tests.unit.training.test_stacked import changed
from tests.unit.training.toy import Recorder, StopAt

__all__ = ["recorded"]
STEPS = 6


def trusting(own: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """A threshold that tiny networks reach: what is labelled, and how, must show in the weights."""
    return {"algorithm": {"tau": 0.4}, **own, "training": {"steps": STEPS, **own.get("training", {})}}


@pytest.fixture
def full(tiny_backbone):
    """Settings of mode full, with some of the user's own."""

    def make(**own: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return settings_for(tiny_backbone, "full", trusting(own))

    return make


@pytest.fixture
def lite(tiny_backbone, monkeypatch):
    """The same of mode lite, where a CPU would not go side by side by itself."""
    monkeypatch.setattr(LiteLearner, "why_not_joined", lambda self: None)

    def make(**own: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return settings_for(tiny_backbone, "lite", trusting(own))

    return make


@pytest.mark.parametrize("update", ["joint", "alternating"])
@pytest.mark.parametrize("name", ["jointmatch", "fixmatch"])
def test_each_seed_ends_as_if_it_were_alone(full, name, update):
    training = {"update": update, "clip_norm": 0.5, "label_dropout": True}
    assert_as_alone(full(algorithm={"name": name, "tau": 0.4}, training=training))


@pytest.mark.parametrize("training", [{}, {"accumulate": 2}, {"average_decay": 0.9, "average_labels": True}], ids=str)
def test_so_it_does_where_passes_are_replayed(full, recorded, training):
    """A replay leaves gradients where the one before left its own."""
    assert_as_alone(full(training=training))
    assert Rerun.made > 0


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        ("training", {"accumulate": 3}),
        ("training", {"average_decay": 0.9, "average_labels": True}),
        ("training", {"batch_size": 0}),
        ("training", {"label_dropout": False, "average_decay": 0.0, "average_labels": False}),
        ("training", {"warm_start": True}),
        ("network", {"freeze_embeddings": True}),
        ("network", {"layers": [1.0, 0.5]}),
        ("network", {"count": 3, "head_per_network": ["linear", "mlp", "cosine"]}),
        ("network", {"feature_cutoff": 0.3}),
        ("augment", {"strong_per_network": ["none", "masking:0.4"]}),
    ],
    ids=str,
)
def test_it_does_whatever_else_is_set(full, section, settings):
    assert_as_alone(full(**{section: settings}))


@pytest.mark.parametrize("name", ["jointmatch", "supervised", "mixtext"])
def test_heads_that_start_warm_are_trained_side_by_side_too(full, monkeypatch, name):
    """All but the first seed's, which tells how many seeds there is room for."""
    monkeypatch.setattr(LiteLearner, "why_not_joined", lambda self: None)
    trained: list[int] = []
    inner = run_module.side_by_side

    def spy(loops):
        trained.append(sum(isinstance(loop.updater.learner, LiteLearner) for loop in loops))
        return inner(loops)

    monkeypatch.setattr(run_module, "side_by_side", spy)
    assert_as_alone(full(algorithm={"name": name}, training={"warm_start": True}), selects=name != "supervised")
    assert trained == [2, 0]


def test_views_that_are_made_once_are_made_once_for_all_seeds(full, monkeypatch):
    """Each seed's are those of the seed alone; texts that seeds have in common are not written again."""
    settings = full(augment={"weak": "deletion:0.2", "strong": ["swap:0.2"], "fresh": False})
    assert_as_alone(settings)
    written: list[str] = []
    inner = making.make_views

    def spy(texts, *rest):
        written.extend(texts)
        return inner(texts, *rest)

    monkeypatch.setattr(making, "make_views", spy)
    run_module.run_seeds([splits_of(0)] * 3, settings, SEEDS)
    seen = set(splits_of(0).labeled.texts) | set(splits_of(0).pool.texts)
    assert len(written) == len(seen) + len(set(splits_of(0).pool.texts))  # weakly all, strongly the pool


@pytest.mark.parametrize("broken", [False, True])
def test_features_are_computed_and_looked_up_once_for_all_seeds(lite, monkeypatch, tmp_path, broken):
    """Even where there is no folder to keep them in."""
    if broken:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("JOINTMATCH_CACHE", str(tmp_path / "file"))
    computed: list[str] = []
    looked_up: list[bytes] = []
    extract, on_disk = features.extract, Cache._on_disk

    def spy(texts, *rest):
        computed.extend(texts)
        return extract(texts, *rest)

    def look_up(self, keys):
        looked_up.extend(keys)
        return on_disk(self, keys)

    monkeypatch.setattr(features, "extract", spy)
    monkeypatch.setattr(Cache, "_on_disk", look_up)
    run_module.run_seeds([splits_of(0)] * 3, lite(), SEEDS)
    assert len(computed) > 0
    assert len(computed) == len(set(computed))
    assert len(looked_up) == len(set(looked_up))


def test_tokens_of_words_serve_all_seeds(full):
    first, second = (Job(splits_of(seed), full(), None, Recorder(), resume=False) for seed in (0, 1))
    second.assembly.share(first.assembly)
    for job in (first, second):
        job.prepare()
        job.build()
    assert isinstance(first.learner, FullLearner)
    assert isinstance(second.learner, FullLearner)
    assert second.learner.tokenizer is first.learner.tokenizer
    assert second.learner.inputs.tokenizer is first.learner.tokenizer


@pytest.mark.parametrize("name", ["jointmatch", "fixmatch"])
def test_word_vectors_that_start_alike_are_each_seeds_own_where_they_are_trained(full, name):
    """FixMatch has one network: nothing but being trained tells its vectors from frozen ones that all could share."""
    assert_as_alone(full(algorithm={"name": name, "tau": 0.4}, training={"average_decay": 0.9, "average_labels": True}))


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        ("training", {"accumulate": 3, "update": "alternating"}),
        ("training", {"average_decay": 0.9, "average_labels": True, "label_dropout": True}),
        ("network", {"count": 3, "head_per_network": ["linear", "mlp", "cosine"], "feature_cutoff": 0.2}),
        ("network", {"normalize": True, "layers": [1.0, 0.5]}),
    ],
    ids=str,
)
def test_heads_over_frozen_features_do_too(lite, section, settings):
    assert_as_alone(lite(**{section: settings}))


def test_seeds_stop_early_at_steps_of_their_own(full):
    """These data and this rate were found by trying."""
    found = assert_as_alone(
        full(training={"steps": 14, "evaluate_every": 1, "patience": 2, "learning_rate": 3e-4, "average_warmup": True})
    )
    assert len({own.result["steps"] for own in found}) > 1
    assert {own.result["termination"] for own in found} == {"early_stopping"}


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_what_was_stopped_goes_on_to_the_same_end(request, tmp_path, mode):
    settings = request.getfixturevalue(mode)(training={"average_decay": 0.9})
    whole = together(settings)
    with pytest.raises(Interrupted, match="after step 3 of 6"):
        together(settings, tmp_path, StopAt(7))
    for seed in SEEDS:
        facts = load_checkpoint(tmp_path / f"seed-{seed}/checkpoints/last.safetensors")[1]
        assert facts["progress"]["step"] == 3
    resumed = together(settings, tmp_path, resume=True)
    for seed, found, wanted in zip(SEEDS, resumed, whole, strict=True):
        assert_alike(found, wanted)
        loaded = Model.load(tmp_path / f"seed-{seed}/model")
        np.testing.assert_array_equal(loaded.predict_proba(TEXTS), found.model.predict_proba(TEXTS))


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_a_stopped_seed_can_go_on_alone(request, tmp_path, mode):
    settings = request.getfixturevalue(mode)()
    with pytest.raises(Interrupted):
        together(settings, tmp_path, StopAt(7))
    (resumed,) = together(settings, tmp_path, resume=True, seeds=(1,))
    assert resumed.result["side_by_side"] == 1
    assert_alike(resumed, alone(settings, 1))


def test_finished_seeds_are_kept_and_the_others_trained(full, tmp_path, monkeypatch):
    settings = full()
    (first,) = together(settings, tmp_path, seeds=(1,))
    before = (tmp_path / "seed-1/result.json").read_bytes()
    counts = []
    inner = Joint.student
    monkeypatch.setattr(Joint, "student", lambda self, asks: counts.append(len(asks)) or inner(self, asks))  # type: ignore
    outcomes = together(settings, tmp_path, resume=True)
    assert counts == [2] * STEPS
    assert (tmp_path / "seed-1/result.json").read_bytes() == before
    assert outcomes[1].result == json.loads(before)
    assert outcomes[1].history == first.history
    assert [own.result["seed"] for own in outcomes] == [0, 1, 2]
    np.testing.assert_array_equal(outcomes[1].model.predict_proba(TEXTS), first.model.predict_proba(TEXTS))


def test_a_finished_seed_is_scored_again_on_another_test_part(full, tmp_path, monkeypatch):
    first = together(full(), tmp_path, seeds=(0, 1))
    monkeypatch.setattr(seeds, "splits_of", lambda seed: replace(splits_of(seed), test=splits_of(seed).dev))
    again = together(full(), tmp_path, resume=True, seeds=(0, 1))
    for before, after in zip(first, again, strict=True):
        assert after.history == before.history
        assert after.result["scores"]["test"] == before.result["scores"]["dev"]


def test_seeds_that_are_added_without_baselines_are_summed_up_with_the_others(full, tmp_path):
    with_baselines, without = ({**full(), "output": {"baselines": wanted}} for wanted in (True, False))
    train_seeds(splits_of, with_baselines, [0], tmp_path, Listener())
    combined = train_seeds(splits_of, without, [0, 1], tmp_path, Listener(), resume=True)
    assert list(combined["summary"]) == ["jointmatch"]
    assert len(combined["runs"]) == 2


@pytest.mark.parametrize(("stacked", "count"), [("auto", 1), ("on", 2)])
def test_on_a_cpu_whole_networks_of_several_seeds_take_turns_unless_it_is_said(full, stacked, count):
    listener = Recorder()
    outcomes = together(full(network={"stacked": stacked}), listener=listener, seeds=(0, 1))
    assert [own.result["side_by_side"] for own in outcomes] == [count] * 2
    said = [note for note in listener.notes if "one after another: on a CPU the memory" in note]
    assert len(said) == (stacked == "auto")


def test_seeds_that_are_left_are_built_as_if_all_were(full, tmp_path, monkeypatch):
    """Whether layers are compiled depends on how many runs share the cost, and a seed on that."""
    together(full(), tmp_path, seeds=(0,))
    counts: list[int] = []
    build = Assembly.full_learner

    def counted(self, *args):
        counts.append(self.runs)
        return build(self, *args)

    monkeypatch.setattr(Assembly, "full_learner", counted)
    together(full(), tmp_path, resume=True)
    assert counts == [3, 3]


def test_a_finished_seed_of_other_settings_is_refused(full, tmp_path):
    together(full(), tmp_path, seeds=(0,))
    with pytest.raises(InputError, match="was written with other settings"):
        together(full(training={"learning_rate": 0.5}), tmp_path, resume=True)


def test_only_as_many_go_side_by_side_as_there_is_memory_for(full, monkeypatch):
    """Half of what is free would hold one seed more: two by two, and the last alone."""
    listener = Recorder()
    settings = full(training={"steps": 2})
    need = 5 * sum(p.nbytes for p in alone(settings, 0).model.networks.parameters())
    monkeypatch.setattr(run_module, "free_memory", lambda device: 3 * need)
    outcomes = together(settings, None, listener)
    assert [own.result["side_by_side"] for own in outcomes] == [2, 2, 1]
    assert "There is memory for 2 seed(s) side by side." in listener.notes
    for seed, own in zip(SEEDS, outcomes, strict=True):
        assert_alike(own, alone(settings, seed))


def assert_one_by_one(settings, reason):
    listener = Recorder()
    outcomes = together(settings, None, listener)
    assert [note for note in listener.notes if "one after another" in note] == [
        f"The seeds are trained one after another: {reason}."
    ]
    for seed, own in zip(SEEDS, outcomes, strict=True):
        wanted = alone(settings, seed)
        assert own.history == wanted.history
        np.testing.assert_array_equal(own.model.predict_proba(TEXTS), wanted.model.predict_proba(TEXTS))


def test_networks_that_cannot_be_stacked_are_trained_seed_by_seed_and_it_says_so(full, tiny_backbone, tmp_path):
    other = changed(tiny_backbone, tmp_path / "relu", hidden_act="relu")
    assert_one_by_one(
        full(network={"backbone": str(other)}, training={"steps": 2}),
        "their networks are not stacked (network.stacked)",
    )


@pytest.mark.parametrize("own", [{"network": {"stacked": "off"}}, {"algorithm": {"name": "multimatch"}}], ids=str)
def test_so_are_those_that_shall_not_be_or_share_an_encoder(full, own):
    assert_one_by_one(full(training={"steps": 2}, **own), "their networks are not stacked (network.stacked)")


def test_so_are_heads_on_a_cpu(tiny_backbone):
    assert_one_by_one(settings_for(tiny_backbone, "lite", {}), "on a CPU heads learn no faster together")


def test_a_seed_whose_data_make_another_method_of_it_is_trained_by_itself(full, monkeypatch):
    """Without unlabelled texts aumst is trained supervised, whose heads have no extra output."""
    bare = splits_of(1)
    splits = [
        splits_of(0),
        type(bare)(bare.classes, bare.labeled, bare.pool.rows([]), bare.dev, bare.test),
        splits_of(2),
    ]
    settings = full(algorithm={"name": "aumst"}, training={"steps": 2})
    outcomes = run_module.run_seeds(splits, settings, SEEDS)
    assert [own.result["algorithm"] for own in outcomes] == ["aumst", "supervised", "aumst"]
    assert_alike(outcomes[2], alone(settings, 2))


def test_every_run_knows_how_many_there_are(full, monkeypatch):
    counts: list[int] = []
    build = Assembly._stacked

    def counted(self: Assembly, *args: Any) -> Any:
        counts.append(self.runs)
        return build(self, *args)

    monkeypatch.setattr(Assembly, "_stacked", counted)
    together(full(training={"steps": 1}), None, Recorder())
    assert counts == [len(SEEDS)] * len(SEEDS)


def test_what_all_seeds_say_is_said_once_and_their_steps_are_one_stage(full):
    listener = Recorder()
    said: list[dict[str, Any]] = []
    listener.evaluation = said.append  # type: ignore
    together(full(), None, listener)
    assert len(listener.notes) == len(set(listener.notes))
    assert "Training 3 seeds side by side." in listener.notes
    assert listener.stages[-1] == ("training", 3 * STEPS)
    assert listener.steps == 3 * STEPS
    assert [(record["seed"], record["step"]) for record in said] == [(s, n) for n in (2, 4, 6) for s in SEEDS]
