"""A model folder: what is saved is what is loaded, nothing in it can run code, and damage is named."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest

from jointmatch.data import splits_of_lists
from jointmatch.errors import InputError, OutputError
from jointmatch.listener import Listener
from jointmatch.model import Model
from jointmatch.run import run
from tests.conftest import topic_texts

SAFE = {".json", ".safetensors", ".md", ".txt", ".jinja"}


def trained(backbone, mode: str, names: dict | None = None, engine="auto", listener=None) -> Model:
    texts, labels = topic_texts(30)
    given = [names[y] if names else y for y in labels[:9]] + [None] * 21
    settings = {
        "network": {"backbone": str(backbone), "engine": engine},
        "training": {"mode": mode, "device": "cpu", "steps": 4, "warm_start": False},
        "output": {"baselines": False},
    }
    return run(splits_of_lists(texts, given), settings, listener=listener).model


@pytest.fixture(scope="module")
def models(tiny_backbone, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOINTMATCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return {mode: trained(tiny_backbone, mode) for mode in ("lite", "full")}


@pytest.fixture(params=["lite", "full"])
def saved(models, request, tmp_path):
    folder = tmp_path / "model"
    models[request.param].save(folder)
    return folder


@pytest.fixture
def lite(models, tmp_path):
    models["lite"].save(tmp_path / "model")
    return tmp_path / "model"


NEW = [*topic_texts(20, seed=7)[0], "", "unknown words only", "apple " * 500]


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_a_loaded_model_gives_the_very_same_probabilities(models, tmp_path, mode):
    models[mode].save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.network_probs(NEW), models[mode].network_probs(NEW))
    np.testing.assert_array_equal(loaded.predict_proba(NEW), models[mode].predict_proba(NEW))
    assert loaded.facts == models[mode].facts
    assert loaded.predict(NEW) == models[mode].predict(NEW)


def test_a_model_saved_again_after_loading_is_still_the_same(models, lite, tmp_path):
    Model.load(lite).save(tmp_path / "again")
    shutil.rmtree(lite)
    np.testing.assert_array_equal(Model.load(tmp_path / "again").predict_proba(NEW), models["lite"].predict_proba(NEW))


def test_no_file_in_the_folder_can_run_code(saved):
    files = [p for p in saved.rglob("*") if p.is_file()]
    assert {p.suffix for p in files} <= SAFE
    for path in files:
        assert not path.read_bytes().startswith((b"\x80", b"PK")), f"{path.name} is a pickle or an archive"


def test_saving_replaces_an_earlier_model_and_leaves_nothing_beside_it(models, tmp_path):
    models["full"].save(tmp_path / "model")
    models["lite"].save(tmp_path / "model")
    assert not (tmp_path / "model" / "network-0").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_saving_never_replaces_what_is_no_model(models, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    with pytest.raises(OutputError, match="not a model's"):
        models["lite"].save(tmp_path / "mine")
    with pytest.raises(OutputError, match="is a file"):
        models["lite"].save(tmp_path / "file")
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(OutputError, match="current folder"):
        models["lite"].save(".")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "mine"
    assert (tmp_path / "file").read_text() == "mine"
    monkeypatch.chdir(tmp_path)
    models["lite"].save("empty")
    assert (tmp_path / "empty" / "jointmatch.json").exists()


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_a_pickled_model_gives_the_very_same_probabilities_and_can_be_saved(models, tmp_path, mode):
    copy = pickle.loads(pickle.dumps(models[mode]))
    np.testing.assert_array_equal(copy.predict_proba(NEW), models[mode].predict_proba(NEW))
    assert copy.facts == models[mode].facts
    assert copy.metrics == models[mode].metrics
    copy.save(tmp_path / "model")
    np.testing.assert_array_equal(Model.load(tmp_path / "model").predict_proba(NEW), copy.predict_proba(NEW))


def test_a_lite_model_needs_its_backbone_folder_no_more(tiny_backbone, tmp_path):
    backbone = tmp_path / "backbone"
    shutil.copytree(tiny_backbone, backbone)
    model = trained(backbone, "lite")
    model.save(tmp_path / "model")
    shutil.rmtree(backbone)
    np.testing.assert_array_equal(Model.load(tmp_path / "model").predict_proba(NEW), model.predict_proba(NEW))


@pytest.mark.parametrize(
    "names",
    [
        {"fruit": 3, "metal": 10, "music": 2},
        {"fruit": "ü", "metal": "3", "music": "a,b"},
        {"fruit": 0.5, "metal": 2.0, "music": -1.5},
        {"fruit": True, "metal": False, "music": False},
    ],
    ids=["int", "str", "float", "bool"],
)
def test_labels_come_back_as_the_type_they_were_given_in(tiny_backbone, tmp_path, names):
    trained(tiny_backbone, "lite", names).save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    assert loaded.classes == sorted(set(names.values()))
    kind = type(names["fruit"])
    assert {type(label) for label in loaded.classes} == {kind}
    assert {type(label) for label in loaded.predict(NEW)} == {kind}


def test_the_folder_of_the_run_points_to_the_model_in_it(lite):
    with pytest.raises(InputError, match=r"has no jointmatch.json.*Did you mean .*model\?"):
        Model.load(lite.parent)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere does not exist"):
        Model.load(tmp_path / "nowhere")


def test_a_newer_format_asks_for_an_upgrade(lite):
    change(lite, format=3, version="9.0", surprise=True)
    with pytest.raises(InputError, match=r"newer jointmatch \(9.0\). Upgrade"):
        Model.load(lite)


def change(folder, **values: object) -> None:
    path = folder / "jointmatch.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    "name",
    [
        "jointmatch.json",
        "heads.safetensors",
        "encoder/config.json",
        "encoder/model.safetensors",
        "tokenizer.json",
        "metrics.json",
    ],
)
@pytest.mark.parametrize("content", [b"", b"{junk"], ids=["empty", "junk"])
def test_a_damaged_file_is_a_clear_error(lite, name, content):
    (lite / name).write_bytes(content)
    with pytest.raises(InputError, match=r"damaged|could not be loaded"):
        Model.load(lite)


@pytest.mark.parametrize("content", [None, b"{junk"], ids=["missing", "damaged"])
def test_without_digests_of_its_labelled_texts_a_model_predicts_and_its_card_does_not_speak_of_them(
    models, lite, tmp_path, content
):
    (lite / "labeled.json").unlink()
    if content is not None:
        (lite / "labeled.json").write_bytes(content)
    loaded = Model.load(lite)
    np.testing.assert_array_equal(loaded.predict_proba(NEW), models["lite"].predict_proba(NEW))
    loaded.save(tmp_path / "again")
    assert "labeled.json" in (lite / "README.md").read_text()
    assert "labeled.json" not in (tmp_path / "again" / "README.md").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "heads.safetensors",
        "encoder/config.json",
        "encoder/model.safetensors",
        "tokenizer.json",
    ],
)
def test_a_missing_file_is_a_clear_error(lite, name):
    (lite / name).unlink()
    (lite / "vocab.txt").unlink(missing_ok=True)  # in which earlier versions of transformers keep the tokenizer, too
    with pytest.raises(
        InputError, match="incomplete" if name == "tokenizer.json" else r"incomplete|could not be loaded"
    ):
        Model.load(lite)


@pytest.mark.parametrize("name", ["head.safetensors", "config.json", "model.safetensors"])
def test_a_full_model_without_a_part_of_a_network_is_a_clear_error(models, tmp_path, name):
    models["full"].save(tmp_path / "model")
    (tmp_path / "model" / "network-1" / name).unlink()
    with pytest.raises(InputError, match=r"incomplete|could not be loaded"):
        Model.load(tmp_path / "model")


@pytest.mark.parametrize(
    "values",
    [
        {"format": "one"},
        {"surprise": 1},
        {"head": {"x": 1}},
        {"layers": 5},
        {"classes": ["only one"]},
    ],
    ids=str,
)
def test_facts_that_do_not_fit_are_a_clear_error(lite, values):
    change(lite, **values)
    with pytest.raises(InputError, match="damaged"):
        Model.load(lite)


def test_a_model_over_a_named_backbone_refuses_other_weights_of_that_name(lite):
    shutil.rmtree(lite / "encoder")
    change(lite, backbone="minilm", fingerprint="of other files")
    with pytest.raises(InputError, match="not the one this model was trained on"):
        Model.load(lite)


def test_a_model_trained_on_features_in_integers_predicts_with_them(tiny_backbone, tmp_path):
    model = trained(tiny_backbone, "lite", engine="int8")
    model.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    assert [encoder.in_integers for encoder in loaded.networks.encoders] == [True]
    np.testing.assert_array_equal(loaded.predict_proba(NEW), model.predict_proba(NEW))


def test_whole_networks_predict_as_they_learnt_whatever_the_engine_of_features(tiny_backbone):
    model = trained(tiny_backbone, "full", engine="int8")
    assert not any(encoder.in_integers for encoder in model.networks.encoders)


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_predictions_take_the_quick_form_of_every_encoder(models, mode):
    assert all(encoder.quick is not None for encoder in models[mode].networks.encoders)


def test_an_engine_nobody_knows_is_named(lite):
    facts = json.loads((lite / "jointmatch.json").read_text())
    (lite / "jointmatch.json").write_text(json.dumps({**facts, "engine": "steam"}))
    with pytest.raises(InputError, match="'steam', wanted one of auto, transformers, int8"):
        Model.load(lite)


def test_a_model_folder_from_before_there_were_engines_loads(models, lite):
    facts = json.loads((lite / "jointmatch.json").read_text())
    del facts["engine"]
    (lite / "jointmatch.json").write_text(json.dumps(facts))
    np.testing.assert_array_equal(Model.load(lite).predict_proba(NEW), models["lite"].predict_proba(NEW))


def test_a_backbone_without_a_quick_form_trains_and_says_so_in_one_line(tmp_path, tiny_backbone):
    from transformers import DistilBertConfig, DistilBertModel

    folder = tmp_path / "distil"
    shutil.copytree(tiny_backbone, folder)
    shape = DistilBertConfig(vocab_size=64, dim=16, n_heads=2, n_layers=2, hidden_dim=32)
    DistilBertModel(shape).save_pretrained(folder)
    notes: list[str] = []
    listener = Listener()
    listener.note = notes.append  # type: ignore[method-assign, assignment]
    model = trained(folder, "lite", listener=listener)
    assert sum("DistilBertModel, wanted a BertModel" in note for note in notes) == 1
    assert np.isfinite(model.predict_proba(NEW)).all()
