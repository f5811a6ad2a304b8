"""The corpus inside the package: size, balance, length, and nothing twice."""

import re
from collections import Counter
from itertools import combinations

import pytest

from jointmatch.data.demo import corpus_file, demo_splits
from jointmatch.data.splits import same_text
from jointmatch.data.tables import read_table

PARTS = {part: read_table(corpus_file(part)) for part in ("train", "test")}
TEXTS = [text for table in PARTS.values() for text in table["text"]]
CLASSES = {"access", "billing", "bug", "cancel", "feature", "howto"}


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def test_there_are_at_least_700_texts_and_180_of_them_are_the_test_part():
    assert len(TEXTS) >= 700
    assert len(PARTS["test"]["text"]) == 180


@pytest.mark.parametrize("part", PARTS)
def test_there_are_six_classes_in_balance(part):
    sizes = Counter(PARTS[part]["label"])
    assert set(sizes) == CLASSES
    assert max(sizes.values()) <= 1.1 * min(sizes.values())


def test_the_test_part_has_30_texts_of_each_class():
    assert set(Counter(PARTS["test"]["label"]).values()) == {30}


def test_every_text_has_5_to_60_words():
    assert [text for text in TEXTS if not 5 <= len(text.split()) <= 60] == []


def test_every_text_is_plain_printable_ascii_without_spaces_around_it():
    assert [text for text in TEXTS if not (text.isascii() and text.isprintable() and text == text.strip())] == []


def test_no_text_stands_there_twice_whatever_its_case_and_punctuation():
    folded = Counter(" ".join(re.findall(r"\w+", same_text(text).lower())) for text in TEXTS)
    assert [text for text, count in folded.items() if count > 1] == []


def test_no_two_texts_share_most_of_their_words():
    """Shared words over all words of the two; a change of one word in ten gives 9 / 11 = 0.82."""
    bags = [(text, words(text)) for text in TEXTS]
    near = [(a, b) for (a, x), (b, y) in combinations(bags, 2) if len(x & y) > 0.6 * len(x | y)]
    assert near == []


def test_no_text_starts_like_many_others():
    """Templates would show as openings of four words that many texts share."""
    openings = Counter(" ".join(text.lower().split()[:4]) for text in TEXTS)
    assert [opening for opening, count in openings.items() if count > 4] == []


def test_the_demo_draws_labels_by_seed_and_keeps_the_test_part_fixed():
    first, again, other = demo_splits(5, 0), demo_splits(5, 0), demo_splits(5, 1)
    assert Counter(first.labeled.labels) == dict.fromkeys(range(6), 5)
    assert first.labeled.texts == again.labeled.texts
    assert set(first.labeled.texts) != set(other.labeled.texts)
    assert len(first.labeled) + len(first.pool) == len(PARTS["train"]["text"])
    assert first.test is not None
    assert first.test == other.test
    assert first.notes == []
