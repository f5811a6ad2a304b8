"""UDA's word replacement: the formulas by hand, and what becomes of texts."""

import math
from collections import Counter

import numpy as np
import pytest

from jointmatch.augment import Surroundings, TfIdf, make_views
from jointmatch.augment.punctuation import split_punctuation
from jointmatch.augment.tfidf import draw_shares, replacement_chances, statistics

LOG2, LOG4 = math.log(2), math.log(4)
CORPUS = ["the cat sat", "the dog sat", "the bird flew", "the cat flew"]


def prepared(rate: float, corpus) -> TfIdf:
    augmenter = TfIdf(rate)
    augmenter.prepare(Surroundings(corpus=corpus))
    return augmenter


def test_a_word_is_replaced_the_more_often_the_less_it_tells():
    """C = 4; C - TFIDF = (4, 2, 0), whose mean is 2: chances 0.3 * (2, 1, 0)."""
    chances = replacement_chances(np.array([0.0, 2.0, 4.0]), 0.3)
    np.testing.assert_allclose(chances, [0.6, 0.3, 0.0])


def test_the_mean_chance_is_the_rate_until_one_reaches_certainty():
    """C - TFIDF = (6, 0, 0), mean 2: 0.5 * 3 = 1.5 is cut to 1."""
    np.testing.assert_allclose(replacement_chances(np.array([0.0, 6.0, 6.0]), 0.5), [1.0, 0.0, 0.0])
    assert replacement_chances(np.array([0.0, 1.0, 3.0, 4.0]), 0.3).mean() == pytest.approx(0.3)


def test_words_that_tell_the_same_are_replaced_at_the_rate():
    np.testing.assert_allclose(replacement_chances(np.array([1.5, 1.5]), 0.4), [0.4, 0.4])


def test_a_word_is_drawn_the_more_often_the_less_it_tells():
    """max S - S = (3, 2, 0) of 5 in all."""
    np.testing.assert_allclose(draw_shares(np.array([0.0, 1.0, 3.0])), [0.6, 0.4, 0.0])
    np.testing.assert_allclose(draw_shares(np.array([2.0, 2.0])), [0.5, 0.5])


def test_the_statistics_of_four_texts():
    """the: in all 4, idf 0. cat, sat, flew: in 2 of 4, idf log 2, S = 2 log 2. dog, bird: idf log 4 = 2 log 2, S the
    same. So only "the" is ever drawn."""
    found = statistics(text.split() for text in CORPUS)
    assert found is not None
    assert found.words == ["bird", "cat", "dog", "flew", "sat", "the"]
    idf = [found.idf[w] for w in found.words]
    np.testing.assert_allclose(idf, [LOG4, LOG2, LOG4, LOG2, LOG2, 0])
    np.testing.assert_allclose(found.sums, [0, 0, 0, 0, 0, 1], atol=1e-12)
    assert {found.word_at(draw) for draw in (0.0, 0.5, 0.999999)} == {"the"}


def test_tf_idf_in_a_text_counts_repeats_and_takes_an_unknown_word_for_a_rare_one():
    """Four words: the 2/4 * 0, cat 1/4 * log 2, whale 1/4 * log 4."""
    found = statistics(text.split() for text in CORPUS)
    assert found is not None
    np.testing.assert_allclose(found.tf_idf(["the", "cat", "the", "whale"]), [0, LOG2 / 4, 0, LOG4 / 4])


def test_draws_follow_the_shares():
    """S = (a 0, b 2 log 2, c 2 log 2, d 4 log 2): a is drawn half the time, b and c a quarter each, d never."""
    texts = [["a", "b", "d", "d"], ["a", "c", "d", "d"], ["a", "b"], ["a", "c"]]
    found = statistics(texts)
    assert found is not None
    assert found.words == ["a", "b", "c", "d"]
    drawn = Counter(found.word_at((i + 0.5) / 1000) for i in range(1000))
    assert drawn == {"a": 500, "b": 250, "c": 250}


def test_the_telling_word_stays_and_the_others_go():
    corpus = [f"the report of the day {name}" for name in ("oil", "war", "sport", "bank", "film", "song", "snow")]
    augmenter = prepared(0.5, corpus)
    kept: Counter[str] = Counter()
    for seed in range(300):
        (view,) = augmenter(["the report of the day oil"], np.random.default_rng(seed))
        words = view.split()
        assert len(words) == 6
        kept["oil"] += words[5] == "oil"
    assert kept["oil"] == 300


def test_punctuation_and_casing_stay_where_they_are():
    augmenter = prepared(1.0, ["alpha beta", "alpha gamma", "beta gamma"])
    for seed in range(30):
        (view,) = augmenter(['"Alpha, (BETA) gamma!" -'], np.random.default_rng(seed))
        first, second, third, dash = view.split()
        assert (first[0], first[-1], second[0], second[-1], third[-2:], dash) == ('"', ",", "(", ")", '!"', "-")
        assert first[1].isupper()
        assert second[1:-1].isupper()
        assert third[0].islower()


def test_characters_are_replaced_by_characters_and_words_by_words():
    corpus = ["我昨天买的手机", "今天早上突然打不开了", "the phone broke", "a phone call"]
    augmenter = prepared(0.9, corpus)
    for seed in range(20):
        chinese, english = augmenter(["请问我的手机怎么办", "the new phone"], np.random.default_rng(seed))
        assert len(chinese) == 9
        assert all("\u4e00" <= c <= "\u9fff" for c in chinese)
        assert english.isascii()


def test_a_script_that_the_corpus_lacks_draws_on_the_text_itself():
    (view,) = prepared(0.9, CORPUS)(["我昨天买的手机"], np.random.default_rng(0))
    assert set(view) <= set("我昨天买的手机")


def test_without_a_corpus_the_texts_of_the_call_serve():
    """beta and gamma, in two of three texts, have S = 2 log 1.5 = 0.81, the others log 3 = 1.10 and are not drawn."""
    texts = ["alpha beta gamma", "beta delta epsilon", "gamma zeta eta"]

    def words(texts) -> set[str]:
        views = [TfIdf(0.9)(texts, np.random.default_rng(seed))[-1] for seed in range(50)]
        return {word for view in views for word in view.split()}

    assert words(texts) == {"gamma", "zeta", "eta", "beta"}
    assert words(texts[2:]) == {"gamma", "zeta", "eta"}


def test_the_key_knows_the_corpus_in_any_order():
    plain = TfIdf(0.3)
    assert prepared(0.3, CORPUS).key == prepared(0.3, CORPUS[::-1]).key
    keys = {plain.key, prepared(0.3, CORPUS).key, prepared(0.3, CORPUS[:3]).key, prepared(0.3, ["the cat", "sat"]).key}
    assert len(keys) == 4
    views = make_views(CORPUS, prepared(0.5, CORPUS))
    assert make_views(CORPUS, prepared(0.5, CORPUS[::-1])) == views


def test_odd_corpora_do_no_harm():
    for corpus in (["", "  "], ["..."], ["one"], ["\ud800 x", "y"], ["same same"] * 3):
        (view,) = prepared(0.9, corpus)(["some plain words here"], np.random.default_rng(0))
        assert len(view.split()) == 4


def test_the_corpus_is_counted_only_when_needed_and_once():
    augmenter = prepared(0.3, ["one two three", "two three four"])
    assert "statistics" not in vars(augmenter.corpus)
    augmenter(["one two three"], np.random.default_rng(0))
    counted = vars(augmenter.corpus)["statistics"]
    augmenter(["two three four"], np.random.default_rng(0))
    assert vars(augmenter.corpus)["statistics"] is counted


@pytest.mark.parametrize(
    ("unit", "parts"),
    [
        ("word", ("", "word", "")),
        ("(word),", ("(", "word", "),")),
        ("\u201cdon't!\u201d", ("\u201c", "don't", "!\u201d")),
        ("3.5", ("", "3.5", "")),
        ("...", ("...", "", "")),
        ("-", ("-", "", "")),
        ("", ("", "", "")),
        ("https://a.b/c/", ("", "https://a.b/c/", "")),
        ("手", ("", "手", "")),
        ("。", ("。", "", "")),
    ],
)
def test_a_word_is_told_from_the_punctuation_around_it(unit, parts):
    assert split_punctuation(unit) == parts
