"""Words put in and stretches left out."""

from collections import Counter

import numpy as np
import pytest

from jointmatch.augment import Cutoff, Insertion, Surroundings

WORDS = [f"w{i}" for i in range(20)]
TEXT = " ".join(WORDS)
CHINESE = "我昨天买的手机今天早上突然打不开了请问应该怎么办"


def views(augmenter, text: str = TEXT, count: int = 200) -> list[str]:
    return [augmenter([text], np.random.default_rng(seed))[0] for seed in range(count)]


def is_subsequence(part, whole) -> bool:
    rest = iter(whole)
    return all(item in rest for item in part)


@pytest.mark.parametrize(("rate", "more"), [(0.01, 1), (0.1, 2), (0.5, 10), (1.0, 20)])
def test_insertion_adds_a_share_of_the_words_and_keeps_all_in_order(rate, more):
    for view in views(Insertion(rate)):
        words = view.split()
        assert len(words) == 20 + more
        assert is_subsequence(WORDS, words)
        assert set(words) == set(WORDS)


def test_insertion_reaches_every_place_and_every_word():
    """One word more: where it is put shows in the words around, unless it stands beside its own copy."""
    seen: Counter[int] = Counter()
    inserted: Counter[str] = Counter()
    for view in views(Insertion(0.05), count=2000):
        words = view.split()
        place = next((i for i, (a, b) in enumerate(zip(words, WORDS, strict=False)) if a != b), 20)
        seen[place] += 1
        inserted.update(Counter(words) - Counter(WORDS))
    assert set(seen) == set(range(21))
    assert any(view.split()[-1] != "w19" for view in views(Insertion(0.05)))
    assert set(inserted) == set(WORDS)


def test_insertion_takes_the_text_s_own_words_even_where_a_corpus_is_known():
    augmenter = Insertion(0.5)
    augmenter.prepare(Surroundings(corpus=["other words from another class"] * 5))
    assert all(set(view.split()) == set(WORDS) for view in views(augmenter, count=20))


def test_insertion_puts_characters_between_characters_where_a_script_has_no_spaces():
    for view in views(Insertion(0.25), CHINESE, 20):
        assert len(view) == 24 + 6
        assert is_subsequence(CHINESE, view)
        assert " " not in view


@pytest.mark.parametrize(("rate", "gone"), [(0.01, 1), (0.1, 2), (0.5, 10), (0.99, 19), (1.0, 19)])
def test_cutoff_leaves_out_one_stretch_and_never_all(rate, gone):
    stretches = {tuple(w for w in WORDS if w not in view.split()) for view in views(Cutoff(rate))}
    wanted = {tuple(WORDS[start : start + gone]) for start in range(20 - gone + 1)}
    assert stretches == wanted


def test_cutoff_counts_characters_where_a_script_has_no_spaces():
    assert {len(view) for view in views(Cutoff(0.25), CHINESE, 20)} == {18}


@pytest.mark.parametrize("augmenter", [Insertion(1.0), Cutoff(1.0)], ids=str)
@pytest.mark.parametrize("text", ["", "  ", "word"])
def test_a_text_of_one_word_stays(augmenter, text):
    assert views(augmenter, text, 5) == [text] * 5
