"""Views as places of words: what comes out for many texts at once, and when it is not to be done so."""

import numpy as np
import pytest

from jointmatch.augment import Deletion, Places, Swap, parse, reorderings_of, spaced_words

RNG = np.random.default_rng


def whole(*counts: int) -> Places:
    return Places.whole(np.array(counts, dtype=np.int64))


def test_every_word_of_every_text_in_order():
    """Texts of 2, 0 and 3 words: 0 1 | | 0 1 2."""
    places = whole(2, 0, 3)
    assert places.values.tolist() == [0, 1, 0, 1, 2]
    assert places.starts.tolist() == [0, 2, 2]
    assert places.each() == [[0, 1], [], [0, 1, 2]]
    assert whole().each() == []


def test_of_many_words_that_are_all_to_go_one_stays_and_a_single_word_always():
    left = Deletion(1.0).rearrange(whole(5, 1, 0, 3), RNG(0))
    assert left.counts.tolist() == [1, 1, 0, 1]
    assert left.each()[1] == [0]


def test_so_many_words_go_as_the_rate_says_and_those_that_stay_keep_their_order():
    left = Deletion(0.25).rearrange(whole(*[40] * 200), RNG(0))
    assert left.counts.mean() == pytest.approx(30, abs=0.5)
    assert all(own == sorted(set(own)) for own in left.each())


def test_two_words_are_swapped_a_single_one_is_not():
    assert Swap(0.1).rearrange(whole(2, 1, 0, 2), RNG(0)).each() == [[1, 0], [0], [], [1, 0]]


def test_words_are_swapped_as_often_as_the_rate_says():
    """0.1 of 40 words are 2 swaps, which move 3 or 4 words, or none where they undo each other; of 3 words 1 swap."""
    long, short = whole(*[40] * 100), whole(*[3] * 100)
    for own in Swap(0.1).rearrange(long, RNG(0)).each():
        assert sorted(own) == list(range(40))
        assert sum(i != place for i, place in enumerate(own)) in (0, 3, 4)
    for own in Swap(0.1).rearrange(short, RNG(0)).each():
        assert sum(i != place for i, place in enumerate(own)) == 2


def test_each_pair_of_words_is_as_likely_to_be_swapped():
    """Of 3 words there are 3 pairs; 3000 draws, 1000 each."""
    found = ["".join(map(str, own)) for own in Swap(0.1).rearrange(whole(*[3] * 3000), RNG(0)).each()]
    assert {view: found.count(view) for view in set(found)} == pytest.approx(
        {"102": 1000, "021": 1000, "210": 1000}, abs=100
    )


@pytest.mark.parametrize(
    ("spec", "steps"),
    [
        ("deletion:0.2", ["deletion:0.2"]),
        ("deletion:0.2+none+swap:0.1", ["deletion:0.2", "swap:0.1"]),
        ("none", []),
        ("dropout", []),
        ("deletion:0+swap", ["swap:0.1"]),
        ("deletion+masking", None),
        ("deletion|swap", None),
        ("insertion", None),
    ],
)
def test_what_only_reorders_is_known_by_its_parts(spec, steps):
    found = reorderings_of(parse(spec))
    assert (None if found is None else [str(step) for step in found]) == steps


def test_a_script_without_spaces_has_no_words():
    assert spaced_words("two  words") == ["two", "words"]
    assert spaced_words("\u65e5\u672c\u8a9e\u306e\u6587") is None
