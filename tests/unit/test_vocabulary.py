"""Texts that a backbone has no words for are told."""

import logging
from dataclasses import replace

import pytest

from jointmatch.data.demo import demo_splits
from jointmatch.networks import find_backbone, load_tokenizer
from jointmatch.run import run
from jointmatch.vocabulary import strange_words
from tests.unit.training.toy import topic_splits

GERMAN = "Die Bundesregierung hat am Mittwoch beschlossen, die Steuern für kleine Unternehmen deutlich zu senken."
FRENCH = "Le gouvernement a décidé mercredi de baisser les impôts des petites entreprises du pays."
SPANISH = "El gobierno decidió el miércoles bajar los impuestos de las pequeñas empresas del país."
TURKISH = "Hükümet çarşamba günü küçük işletmelerin vergilerini düşürmeye karar verdi."
CHINESE = "政府周三决定降低小企业税收,财政部长表示这将加强经济并创造更多就业机会。"
ENGLISH = "On Wednesday the government decided to cut the taxes of small businesses in the country."
TWEET = "@user omg #hurricane irma 😱😱 pls RT!! http://t.co/abc123 need H2O & generatorz in Ft. Lauderdale :("


@pytest.fixture(scope="module")
def pretrained():
    return load_tokenizer(find_backbone("minilm"))


@pytest.mark.parametrize("text", [GERMAN, FRENCH, SPANISH, TURKISH])
def test_other_languages_are_pieced_together(pretrained, text):
    said = strange_words([text] * 3, pretrained, "minilm")
    assert said is not None
    assert said.startswith("minilm does not know the words of these texts well: it needs ")
    assert "--backbone" in said


def test_a_script_without_spaces_is_unknown(pretrained):
    said = strange_words([CHINESE], pretrained, "minilm")
    assert said is not None
    assert "% of the tokens of these texts are unknown to minilm." in said


@pytest.mark.parametrize("texts", [[ENGLISH], [TWEET, ENGLISH], [], [""], ["123 456"], [ENGLISH] * 3 + [GERMAN]])
def test_its_own_language_with_what_people_make_of_it_is_not(pretrained, texts):
    assert strange_words(texts, pretrained, "minilm") is None


def test_nor_is_the_corpus_that_comes_with_the_package(pretrained):
    assert strange_words(demo_splits(5, 0).pool.texts, pretrained, "minilm") is None


def test_long_texts_are_no_matter(pretrained, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
    assert strange_words(["so it is " * 200], pretrained, "minilm") is None
    assert caplog.records == []


def test_pieces_are_counted_by_word(pretrained):
    """Two words of one piece, one of several: numbers and signs are no words."""
    three = len(pretrained("antidisestablishmentarianism", add_special_tokens=False)["input_ids"])
    said = strange_words(["the cat, 12 antidisestablishmentarianism!"], pretrained, "minilm")
    assert said is not None
    assert f" {(2 + three) / 3:.1f} pieces a word" in said


def test_a_run_warns_of_it_and_its_record_says_so(tiny_backbone):
    """The tiny backbone has words for the toy texts alone."""
    settings = {"training": {"mode": "lite", "steps": 2}, "network": {"backbone": str(tiny_backbone)}}
    own = topic_splits()
    assert not [w for w in run(own, settings).result["warnings"] if "--backbone" in w]
    foreign = replace(own, pool=replace(own.pool, texts=[f"{GERMAN} {i}" for i in range(len(own.pool))]))
    (warning,) = [w for w in run(foreign, settings).result["warnings"] if "--backbone" in w]
    assert "unknown to" in warning
