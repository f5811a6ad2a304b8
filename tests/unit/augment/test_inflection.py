"""English word forms, both ways."""

import pytest

from jointmatch.augment.casing import cased_like
from jointmatch.augment.wordnet.inflection import Inflector, lemmas, takes_an

SPECIAL = {
    "n": {"woman": ["women"]},
    "v": {"admit": ["admitted", "admitting"], "begin": ["began", "begun", "beginning"]},
    "a": {"big": ["bigger", "biggest"], "good": ["better", "best"]},
}


@pytest.mark.parametrize(
    ("lemma", "kind", "form"),
    [
        ("car", ("n", "base"), "car"),
        ("car", ("n", "plural"), "cars"),
        ("church", ("n", "plural"), "churches"),
        ("box", ("n", "plural"), "boxes"),
        ("city", ("n", "plural"), "cities"),
        ("day", ("n", "plural"), "days"),
        ("hero", ("n", "plural"), "heroes"),
        ("photo", ("n", "plural"), "photos"),
        ("woman", ("n", "plural"), "women"),
        ("try", ("v", "third"), "tries"),
        ("reach", ("v", "third"), "reaches"),
        ("purchase", ("v", "past"), "purchased"),
        ("try", ("v", "past"), "tried"),
        ("stop", ("v", "past"), "stopped"),
        ("stay", ("v", "past"), "stayed"),
        ("help", ("v", "past"), "helped"),
        ("admit", ("v", "past"), "admitted"),
        ("begin", ("v", "past"), "began"),
        ("begin", ("v", "participle"), "begun"),
        ("strike", ("v", "participle"), "struck"),
        ("begin", ("v", "ing"), "beginning"),
        ("admit", ("v", "ing"), "admitting"),
        ("make", ("v", "ing"), "making"),
        ("see", ("v", "ing"), "seeing"),
        ("lie", ("v", "ing"), "lying"),
        ("quit", ("v", "ing"), "quitting"),
        ("fix", ("v", "ing"), "fixing"),
        ("large", ("a", "comparative"), "larger"),
        ("big", ("a", "superlative"), "biggest"),
        ("happy", ("a", "comparative"), "happier"),
        ("simple", ("a", "superlative"), "simplest"),
        ("useful", ("a", "comparative"), None),
        ("substantial", ("a", "superlative"), None),
        ("quickly", ("r", "base"), "quickly"),
    ],
)
def test_a_lemma_is_put_into_a_form(lemma, kind, form):
    assert Inflector(SPECIAL)(lemma, kind) == form


@pytest.mark.parametrize(
    ("form", "kind", "lemma"),
    [
        ("cars", ("n", "plural"), "car"),
        ("cities", ("n", "plural"), "city"),
        ("women", ("n", "plural"), "woman"),
        ("tried", ("v", "past"), "try"),
        ("hoping", ("v", "ing"), "hope"),
        ("dying", ("v", "ing"), "die"),
        ("began", ("v", "past"), "begin"),
        ("begun", ("v", "participle"), "begin"),
        ("hit", ("v", "past"), "hit"),
        ("hit", ("v", "participle"), "hit"),
        ("larger", ("a", "comparative"), "large"),
        ("biggest", ("a", "superlative"), "big"),
    ],
)
def test_a_form_is_traced_to_its_lemma(form, kind, lemma):
    exceptions = {
        "n": {"women": ["woman"]},
        "v": {"began": ["begin"], "begun": ["begin"]},
        "a": {"biggest": ["big"]},
    }
    assert lemma in lemmas(form, exceptions)[kind]


def test_past_and_participle_are_told_apart():
    exceptions = {"v": {"began": ["begin"], "begun": ["begin"]}}
    assert "begin" not in lemmas("began", exceptions)[("v", "participle")]
    assert "begin" not in lemmas("begun", exceptions)[("v", "past")]


def test_the_end_of_glass_is_no_plural():
    assert ("n", "plural") not in lemmas("glass", {})


@pytest.mark.parametrize(
    ("model", "word", "cased"),
    [("cars", "autos", "autos"), ("Cars", "autos", "Autos"), ("CARS", "autos", "AUTOS"), ("A", "an", "An")],
)
def test_casing_follows_the_word_that_was_there(model, word, cased):
    assert cased_like(model, word) == cased


@pytest.mark.parametrize("word", ["apple", "hour", "honest", "uninteresting", "umbrella", "Error", "unusual"])
def test_an_stands_before_vowel_sounds(word):
    assert takes_an(word)


@pytest.mark.parametrize("word", ["car", "user", "university", "one", "European", "house", "unit", "useful", "utility"])
def test_a_stands_before_other_sounds(word):
    assert not takes_an(word)
