"""Marian over a tiny model that is built here; what it says is nonsense, how it is run is not."""

import json
from pathlib import Path

import numpy as np
import pytest

from jointmatch.augment import BackTranslation
from jointmatch.augment.translation import Fault, Marian
from jointmatch.augment.translation.sentences import latin, sentences

LINE = "the a cat dog sees big small house red blue runs over under with and but today never always good bad"
WORDS = LINE.split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    spm = pytest.importorskip("sentencepiece", reason="needs the package sentencepiece")
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    folder = tmp_path_factory.mktemp("marian")
    corpus = folder / "corpus.txt"
    draw = np.random.default_rng(0)
    corpus.write_text("\n".join(" ".join(draw.choice(WORDS, 8)) for _ in range(300)))
    spm.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / "m"), vocab_size=60, hard_vocab_limit=False, minloglevel=2
    )
    pieces = spm.SentencePieceProcessor(model_file=str(folder / "m.model"))
    vocabulary = ["</s>", "<unk>", *(pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size())), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(vocabulary)}))
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes((folder / "m.model").read_bytes())
    source, target, vocab = (str(folder / name) for name in ("source.spm", "target.spm", "vocab.json"))
    MarianTokenizer(source_spm=source, target_spm=target, vocab=vocab).save_pretrained(folder)
    import torch

    torch.manual_seed(0)
    size = len(vocabulary)
    config = MarianConfig(
        vocab_size=size,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=512,
        pad_token_id=size - 1,
        eos_token_id=0,
        decoder_start_token_id=size - 1,
        forced_eos_token_id=0,
        init_std=0.5,
    )
    MarianMTModel(config).save_pretrained(folder)
    return folder


def engine(folder: Path, **settings) -> Marian:
    return Marian(there=folder, back=folder, device="cpu", **{"beams": 2} | settings)


def rngs(count: int, seed: int = 0) -> list[np.random.Generator]:
    return [np.random.default_rng([seed, i]) for i in range(count)]


TEXTS = [" ".join(WORDS[i % 20 : i % 20 + 3 + i % 4]) + "." for i in range(8)]


def test_a_text_s_view_does_not_depend_on_its_neighbours_or_the_batch(folder):
    together = engine(folder, tokens=100).round_trip(TEXTS, rngs(8))
    alone = engine(folder)
    assert together == [alone.round_trip([text], rngs(1))[0] for text in TEXTS]
    assert all(isinstance(view, str) for view in together)
    assert len({view for view in together if not isinstance(view, Fault)}) > 1


def test_sampling_draws_each_text_from_its_own_generator(folder):
    sampling = engine(folder, sampling=True)
    views = sampling.round_trip(TEXTS, rngs(8))
    assert sampling.round_trip(TEXTS, rngs(8)) == views
    assert sampling.round_trip(TEXTS[::-1], rngs(8)[::-1]) == views[::-1]
    assert sampling.round_trip(TEXTS, rngs(8, seed=1)) != views
    assert engine(folder).round_trip(TEXTS, rngs(8)) != views


def test_texts_it_cannot_read_are_left_alone(folder):
    odd = ["", "\n", "\U0001f600", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "123"]
    assert engine(folder).round_trip(odd, rngs(5)) == [Fault.NOTHING] * 5


def test_five_thousand_words_are_translated_piece_by_piece(folder):
    (view,) = engine(folder, beams=1).round_trip(
        ["the cat sees the dog. The dog runs with the red cat " * 420], rngs(1)
    )
    assert isinstance(view, str)


def test_a_batch_too_large_for_memory_is_halved_and_a_text_that_fails_alone_fails_alone(folder, monkeypatch):
    from jointmatch.augment.translation.translator import Translator

    marian = engine(folder)
    expected = marian.round_trip(TEXTS, rngs(8))
    generate = Translator._generate

    def small(self, ids, beams, seeds):
        if len(ids) > 2 or len(ids[0]) > 40:
            raise RuntimeError("out of memory")
        return generate(self, ids, beams, seeds)

    monkeypatch.setattr(Translator, "_generate", small)
    assert marian.round_trip([*TEXTS, "the cat " * 40], rngs(9)) == [*expected, Fault.FAILED]


def test_an_augmenter_of_it_is_ready_and_its_key_knows_the_models(folder, tmp_path):
    augment = BackTranslation(engine(folder))
    assert augment.engine.missing() is None
    assert augment.key == BackTranslation(engine(folder)).key
    other = tmp_path / "other"
    other.mkdir()
    for file in folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    (other / "config.json").write_text((folder / "config.json").read_text() + "\n")
    assert BackTranslation(Marian(there=folder, back=other)).key != augment.key
    keys = {engine(folder, **s).key for s in ({}, {"beams": 3}, {"sampling": True})}
    assert len(keys) == 3
    views = augment(TEXTS, np.random.default_rng(0))
    assert len(views) == 8
    assert augment.counts.made + augment.counts.unchanged + augment.counts.dropped.total() == 8


@pytest.fixture
def no_hub(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


def test_without_its_models_the_two_lines_that_get_them_are_named(no_hub):
    assert str(Marian().missing()).startswith(
        "the models Helsinki-NLP/opus-mt-en-de and Helsinki-NLP/opus-mt-de-en; get them with: "
        "hf download Helsinki-NLP/opus-mt-en-de && hf download Helsinki-NLP/opus-mt-de-en"
    )


def test_a_folder_that_is_not_there_or_not_whole_is_missing(no_hub, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert Marian(there=tmp_path, back="/no/such/folder").missing()
    assert "absent" in Marian(there=tmp_path, back="/no/such/folder").key


def test_a_text_is_cut_at_its_sentences_and_never_longer_than_a_model_takes():
    text = "He left. She did not! Why? it said 3.5 percent (maybe). The end"
    assert sentences(text) == ["He left.", "She did not!", "Why? it said 3.5 percent (maybe).", "The end"]
    assert sentences("one\n\ntwo") == ["one", "two"]
    assert [len(part.split()) for part in sentences("word " * 200)] == [80, 80, 40]
    assert sentences(" \n ") == []


@pytest.mark.parametrize(("text", "expected"), [("word", True), ("caf\u00e9", True), ("\u6211", False), ("1", False)])
def test_latin_letters_tell_what_can_be_translated(text, expected):
    assert latin(text) is expected
