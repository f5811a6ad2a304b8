"""Strongest first: how a text takes its words from the levels of a made-up thesaurus."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from jointmatch.augment import Synonym
from jointmatch.augment.wordnet.levels import LEVELS
from jointmatch.augment.wordnet.reader import Reader
from jointmatch.augment.wordnet.thesaurus import Thesaurus

STRONG, FAIR, WEAK = range(3)
NOUNS = {"car": ("auto", STRONG), "town": ("city", FAIR), "door": ("gate", WEAK)}
SEEN = ("auto", "city", "gate", "autos", "cities", "gates", "negotiations", "begin", "end", "information")
Levels = list[dict[str, float]]
# Ten words, five eligible: two strong, two fair, one weak.
TEXT = "the car of the town the car the town door"
ELIGIBLE = Counter(car=2, town=2, door=1)


def only(level: int, word: str) -> Levels:
    """One synonym, at one level."""
    return [{word: 0.2} if i == level else {} for i in range(3)]


def thesaurus(**more: dict[str, tuple[float, Levels]]) -> Thesaurus:
    words = {lemma: {"n": (100.0, only(level, word))} for lemma, (word, level) in NOUNS.items()}
    return Thesaurus(words | more, compounds=set(), exceptions={}, special={}, seen=dict.fromkeys(SEEN, 9))


def synonym(rate: float, **more: dict[str, tuple[float, Levels]]) -> Synonym:
    augmenter = Synonym(rate)
    augmenter.reader = Reader(thesaurus(**more))
    return augmenter


def replaced(rate: float, seed: int = 0, text: str = TEXT) -> Counter[str]:
    """The words that are no longer there."""
    (view,) = synonym(rate)([text], np.random.default_rng(seed))
    return Counter(text.split()) - Counter(view.split())


@pytest.mark.parametrize(
    ("rate", "wanted"),
    [
        pytest.param(0.2, Counter(car=2), id="two of ten: the strong ones suffice"),
        pytest.param(0.4, Counter(car=2, town=2), id="four: the fair ones too"),
        pytest.param(0.5, ELIGIBLE, id="five: all"),
        pytest.param(1.0, ELIGIBLE, id="more than there are"),
    ],
)
def test_a_level_is_used_up_before_the_next_is_touched(rate, wanted):
    assert [replaced(rate, seed) for seed in range(10)] == [wanted] * 10


def test_a_rate_between_two_levels_takes_part_of_the_weaker_one_at_random():
    views = [synonym(0.3)([TEXT], np.random.default_rng(seed))[0] for seed in range(30)]
    assert {replaced(0.3, seed)["car"] for seed in range(30)} == {2}
    first, second = "the auto of the city the auto the town door", "the auto of the town the auto the city door"
    assert set(views) == {first, second}


def test_which_words_of_the_strongest_level_are_taken_is_random():
    views = {synonym(0.1)([TEXT], np.random.default_rng(seed))[0] for seed in range(30)}
    assert views == {TEXT.replace("car", "auto", 1), "the car of the town the auto the town door"}


def test_a_higher_rate_changes_the_same_words_and_more():
    for seed in range(20):
        assert replaced(0.3, seed) <= replaced(0.4, seed) <= replaced(0.5, seed)


def test_a_text_without_strong_words_takes_weak_ones_at_once():
    assert replaced(0.1, text="the door of the gate and that is all there") == Counter(door=1)


def test_every_level_asks_less_than_the_one_before():
    assert all(a.far >= b.far and a.familiar >= b.familiar and a.sure >= b.sure for a, b in pairwise(LEVELS))
    assert LEVELS[0].kin == 0
    assert not LEVELS[0].bold


@pytest.mark.parametrize(("level", "wanted"), [(STRONG, "we start to do it"), (FAIR, "we begin to do it")])
def test_a_verb_in_front_of_to_is_left_to_the_weaker_levels(level, wanted):
    start = {"v": (100.0, only(level, "begin"))}
    assert synonym(1.0, start=start)(["we start to do it"], np.random.default_rng(0)) == [wanted]


@pytest.mark.parametrize(("level", "wanted"), [(STRONG, "it started here"), (FAIR, "it began here")])
def test_a_verb_s_form_that_no_definition_has_is_left_to_the_weaker_levels(level, wanted):
    start = {"v": (100.0, only(level, "begin"))}
    assert synonym(1.0, start=start)(["it started here"], np.random.default_rng(0)) == [wanted]


def test_a_word_that_is_as_likely_another_part_of_speech_is_left_alone():
    """100 * 0.7 for the noun to 2500 * 0.35 * 0.15 * 0.4 for the verb are 57 per cent: too little for either."""
    both = {"n": (100.0, only(FAIR, "gate")), "v": (2500.0, only(FAIR, "begin"))}
    assert synonym(1.0, start=both)(["it is Xy start"], np.random.default_rng(0)) == ["it is Xy start"]


def test_two_readings_that_ask_for_the_same_synonym_add_up():
    """Started is a past in 0.25 of 0.45 uses and a participle in the others; ended is both."""
    start = {"v": (100.0, only(FAIR, "end"))}
    assert synonym(1.0, start=start)(["Xy started here"], np.random.default_rng(0)) == ["Xy ended here"]


def test_a_plural_that_no_definition_has_is_not_made_up():
    """Informations is no word, however common information is."""
    fact = {"n": (100.0, only(FAIR, "information"))}
    assert synonym(1.0, fact=fact)(["the facts of this"], np.random.default_rng(0)) == ["the facts of this"]


def test_a_plural_that_is_a_word_of_its_own_has_its_own_synonyms():
    """Talks are negotiations, though a talk is a speech."""
    talk, talks = {"n": (90.0, only(STRONG, "speech"))}, {"n": (3.0, only(STRONG, "negotiation"))}
    text = ["the talks are here"]
    assert synonym(1.0, talk=talk, talks=talks)(text, np.random.default_rng(0)) == ["the negotiations are here"]


def test_a_plural_that_is_a_word_of_its_own_without_synonyms_is_a_plural():
    augmenter = synonym(1.0, town={"n": (90.0, only(STRONG, "city"))}, towns={"n": (3.0, [])})
    assert augmenter(["the towns are here"], np.random.default_rng(0)) == ["the cities are here"]


def test_behind_a_lone_dash_a_sentence_starts():
    assert synonym(1.0)(["all of it - Towns are here"], np.random.default_rng(0)) == ["all of it - Cities are here"]
    assert synonym(1.0)(["all of it Towns are here"], np.random.default_rng(0)) == ["all of it Towns are here"]
