"""Runs with a word reader: who has one, what is scored, what is kept."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jointmatch import words
from jointmatch.data import UNLABELED, Splits, Texts
from jointmatch.errors import InputError
from jointmatch.listener import Listener
from jointmatch.model import Model
from jointmatch.predict import predict_file
from jointmatch.run import run
from jointmatch.training.metrics import brief
from jointmatch.words import FEWEST_POOL_TEXTS, Lessons, WordReader, drawn
from tests.conftest import topic_texts

TEXTS, NAMES = topic_texts(FEWEST_POOL_TEXTS + 90)
CLASSES = sorted(set(NAMES))
NEW = [*topic_texts(20, seed=7)[0], "", "unknown words only", "apple " * 500]


class Heard(Listener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def splits(pool: int = FEWEST_POOL_TEXTS, scored: bool = True) -> Splits:
    numbers = [CLASSES.index(name) for name in NAMES]
    labeled, dev, test = (Texts(TEXTS[a:b], numbers[a:b]) for a, b in ((0, 9), (9, 39), (39, 90)))
    unlabeled = Texts(TEXTS[90 : 90 + pool], [UNLABELED] * pool)
    return Splits(list(CLASSES), labeled, unlabeled, *((dev, test) if scored else (None, None)))


def outcome(backbone, given: Splits | None = None, folder=None, listener=None, baselines=False, **sections):
    settings = {
        "network": {"backbone": str(backbone), **sections.get("network", {})},
        "training": {"mode": "lite", "device": "cpu", "steps": 5, "warm_start": False, **sections.get("training", {})},
        "output": {"baselines": baselines, "folds": 3},
        "algorithm": sections.get("algorithm", {}),
    }
    return run(given or splits(), settings, folder, listener)


@pytest.fixture(scope="module")
def made(tiny_backbone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOINTMATCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return outcome(tiny_backbone, folder=folder, baselines=True), folder


def test_what_is_held_against_the_baselines_text_by_text_is_the_model_with_its_words(made):
    """Where the two differ: the networks alone get another number of texts right."""
    found = made[0]
    right = {part: [digit == "1" for digit in hits["right"]["jointmatch"]] for part, hits in found.hits.items()}
    scores, alone = found.result["scores"], found.result["scores_of_networks"]
    assert {part: np.mean(hits) for part, hits in right.items()} == {
        p: pytest.approx(s["accuracy"]) for p, s in scores.items()
    }
    assert any(scores[part]["accuracy"] != alone[part]["accuracy"] for part in scores)


def test_scores_are_those_of_the_model_and_the_networks_stand_beside(made):
    found, given = made[0], splits()
    for part, rows in (("dev", given.dev), ("test", given.test)):
        assert rows is not None
        labels, alone = np.array(rows.labels), found.model.network_probs(rows.texts).mean(0)
        own = brief(found.model.predict_proba(rows.texts), labels)
        assert {key: found.result["scores"][part][key] for key in own} == pytest.approx(own)
        assert found.result["baselines"]["networks_alone"][part] == pytest.approx(brief(alone, labels))
        assert not np.array_equal(found.model.predict_proba(rows.texts), alone)
    assert found.model.metrics["test"]["accuracy"] == found.result["scores"]["test"]["accuracy"]
    assert found.result["known_words"] == len(found.model.reader.words.vocabulary) > 20
    assert found.result["seconds"]["words"] > 0


def test_the_model_folder_of_the_run_says_the_very_same(made):
    model, folder = made[0].model, made[1] / "model"
    loaded = Model.load(folder)
    np.testing.assert_array_equal(loaded.predict_proba(NEW), model.predict_proba(NEW))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(NEW), model.predict_proba(NEW))
    card = (folder / "README.md").read_text()
    assert "a linear classifier over" in card
    assert "`words.json` holds words" in card
    assert json.loads((folder / "jointmatch.json").read_text())["format"] == 2


def test_of_a_text_without_a_known_word_the_networks_are_asked_alone(made):
    model = made[0].model
    np.testing.assert_array_equal(model.predict_proba(["???"]), model.network_probs(["???"]).mean(0))
    assert model.predict_proba([]).shape == model.probs([]).shape == (0, 3)


def test_files_are_predicted_by_all_of_it(made, tmp_path):
    model = made[0].model
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in TEXTS[:5]))
    predict_file(lambda: model, tmp_path / "in.jsonl", tmp_path / "out.jsonl", probabilities=True)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    written = [[row[f"probability_{name}"] for name in CLASSES] for row in rows]
    np.testing.assert_allclose(written, model.predict_proba(TEXTS[:5]), atol=1e-6)


def test_a_reader_is_taught_by_all_networks_from_texts_that_the_run_s_seed_draws(tiny_backbone, monkeypatch):
    monkeypatch.setattr(words, "MOST_POOL_TEXTS", 100)
    seen: list[tuple[Lessons, np.ndarray]] = []
    taught = Lessons.taught

    def spy(self: Lessons, probs: np.ndarray, without: Any = ()) -> WordReader:
        seen.append((self, probs))
        return taught(self, probs, without)

    monkeypatch.setattr(Lessons, "taught", spy)
    given = splits()
    model = outcome(tiny_backbone, given, training={"seed": 5}).model
    ((lessons, probs),) = seen
    assert lessons.drawn.tolist() == drawn(len(given.pool), 5).tolist()
    networks = model.network_probs(given.pool.texts)
    assert not np.allclose(networks[0], networks.mean(0), atol=1e-3)
    np.testing.assert_allclose(probs, networks.mean(0), atol=1e-4)


def test_the_networks_alone_are_shown_where_there_is_a_dev_part_only(tiny_backbone):
    found = outcome(tiny_backbone, replace(splits(), test=None), baselines=True)
    assert list(found.result["baselines"]["networks_alone"]) == ["dev"]


def test_a_reader_that_does_harm_on_dev_is_told_of(tiny_backbone, monkeypatch):
    heard = Heard()
    outcome(tiny_backbone, listener=heard, training={"steps": 60})
    assert not [note for note in heard.notes if "does harm" in note]
    monkeypatch.setattr(WordReader, "beside", lambda self, networks, rows: np.roll(networks, 1, axis=-1))
    outcome(tiny_backbone, listener=heard, training={"steps": 60})
    (told,) = [note for note in heard.notes if "does harm" in note]
    assert "on the dev part" in told


def test_without_a_pool_nothing_is_said_of_a_reader(tiny_backbone):
    heard = Heard()
    assert outcome(tiny_backbone, splits(0), listener=heard).model.reader is None
    assert not [note for note in heard.notes if "word reader" in note]


@pytest.mark.parametrize("name", ["words.json", "words.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"[]"])
def test_a_folder_whose_words_are_lost_or_damaged_is_refused(made, tmp_path, name, content):
    made[0].model.save(tmp_path / "model")
    (tmp_path / "model" / name).unlink()
    if content is not None:
        (tmp_path / "model" / name).write_bytes(content)
    with pytest.raises(InputError, match="incomplete or damaged"):
        Model.load(tmp_path / "model")


FORMAT_1 = {
    *("format", "classes", "algorithm", "recipe", "mode", "backbone", "fingerprint", "layers", "pooling", "max_length"),
    *("head", "selection", "steps", "seed", "temperature", "text_column", "version", "settings", "engine", "cut"),
    "unlabeled_value",
}


def test_a_folder_without_a_reader_is_what_versions_before_could_read(tiny_backbone, tmp_path):
    model = outcome(tiny_backbone, network={"word_reader": False}).model
    model.save(tmp_path / "model")
    facts = json.loads((tmp_path / "model" / "jointmatch.json").read_text())
    assert facts["format"] == 1
    assert set(facts) == FORMAT_1
    np.testing.assert_array_equal(Model.load(tmp_path / "model").predict_proba(NEW), model.predict_proba(NEW))


def test_texts_of_several_chunks_are_all_read(made, monkeypatch):
    model = made[0].model
    wanted = model.predict_proba(TEXTS[:10])
    monkeypatch.setattr("jointmatch.model.CHUNK", 4)
    np.testing.assert_allclose(model.predict_proba(TEXTS[:10]), wanted, atol=1e-6)


def test_a_text_is_read_as_far_from_a_list_as_from_a_file(made, monkeypatch):
    """The middle of a long text is not read by networks, so its end is not that of what was cut."""
    model, text = made[0].model, TEXTS[0] + " " + TEXTS[1] * 50
    monkeypatch.setattr("jointmatch.data.splits.MAX_CHARACTERS", len(TEXTS[0]))
    np.testing.assert_array_equal(model.predict_proba([text]), model.predict_proba([TEXTS[0]]))


def test_too_small_a_pool_has_none_and_it_is_said(tiny_backbone):
    heard = Heard()
    found = outcome(tiny_backbone, splits(FEWEST_POOL_TEXTS - 1), listener=heard, baselines=True)
    assert found.model.reader is found.result["known_words"] is None
    assert "networks_alone" not in found.result["baselines"]
    assert [note for note in heard.notes if "word reader" in note] == [
        "No word reader beside the networks: it takes 500 unlabelled texts or more, got 499."
    ]


@pytest.mark.parametrize(
    "sections",
    [
        {"algorithm": {"name": "supervised"}},
        {"network": {"word_reader": False}},
        {"training": {"recipe": "paper"}},
        {"training": {"recipe": "paper", "mode": "full"}, "network": {"max_length": 8}},
    ],
    ids=["supervised", "switched off", "recipe paper", "recipe paper, mode full"],
)
def test_who_has_none_by_itself(tiny_backbone, sections):
    heard = Heard()
    assert outcome(tiny_backbone, listener=heard, **sections).model.reader is None
    assert not [note for note in heard.notes if "word reader" in note]


def test_who_asks_for_one_is_warned_that_there_is_none(tiny_backbone):
    asked = outcome(tiny_backbone, splits(FEWEST_POOL_TEXTS - 1), network={"word_reader": True})
    assert any("No word reader beside the networks" in text for text in asked.result["warnings"])
    assert not any("word reader" in text for text in outcome(tiny_backbone, splits(9)).result["warnings"])


def test_whole_networks_have_one_too(tiny_backbone):
    found = outcome(tiny_backbone, training={"mode": "full"}, network={"max_length": 8})
    assert found.result["known_words"] > 20
    test = splits().test
    assert test is not None
    own = brief(found.model.predict_proba(test.texts), np.array(test.labels))
    assert found.result["scores"]["test"]["accuracy"] == pytest.approx(own["accuracy"])


def test_a_cross_validation_shows_both(tiny_backbone):
    rates = outcome(tiny_backbone, splits(scored=False), baselines=True).result["cross_validation"]
    assert list(rates)[-2:] == ["networks_alone", "jointmatch"]
    assert rates["networks_alone"]["n"] == rates["jointmatch"]["n"] == 9


def test_the_same_seed_gives_the_same_reader(made, tiny_backbone):
    np.testing.assert_array_equal(outcome(tiny_backbone).model.reader.weights, made[0].model.reader.weights)
