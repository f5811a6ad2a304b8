"""What came back broken is replaced by the original's words; the examples are worked by hand."""

import pytest

from jointmatch.augment.translation.engine import Fault
from jointmatch.augment.translation.repair import BROKEN, mend


@pytest.mark.parametrize(
    ("original", "view", "mended"),
    [
        (
            "Workers for nongovernmental organizations were thinking of leaving Iraq last week",
            f"Workers for {BROKEN}organizacionesnogubernamentales thought to leave Iraq last week",
            "Workers for nongovernmental organizations were thinking of leaving Iraq last week",
        ),
        (
            "The little cat was sleeping in the old house by the river",
            f"The small cat was sleeping in the {BROKEN}casa vieja by the stream",
            "The small cat was sleeping in the old house by the stream",
        ),
        (
            "We saw the big dog and ran off quickly",
            f"We saw the large dog {BROKEN}perro and ran off quickly",
            "We saw the big dog and ran off quickly",
        ),
        ("They went to the shore again", "They went to the ca\u00f1\u00f3n again", "They went to the shore again"),
        ("we like cafés very much", "we like cafés a lot", "we like cafés a lot"),
    ],
)
def test_a_broken_word_gives_way_to_the_original_s(original, view, mended):
    assert mend(original, view) == mended


@pytest.mark.parametrize(
    ("original", "view", "mended"),
    [
        ("She said yes", "It said yes", "She said yes"),
        ("He says he will not go", "He says will not go", "He says he will not go"),
        ("I'm glad", "I am happy", "I am happy"),
        ("Call me tomorrow", "I call me tomorrow", "Call me tomorrow"),
        ("The US banks have learned", "The US The banks have learnt", "The US banks have learnt"),
    ],
)
def test_subjects_and_articles_are_the_original_s(original, view, mended):
    assert mend(original, view) == mended


@pytest.mark.parametrize(
    ("original", "view"),
    [
        ("nobody has touched it", "anybody has touched it"),
        ("I have no lever here", "I have any lever here"),
        ("it did not work", "it did work"),
        ("it did work", "it did not work"),
    ],
)
def test_a_negation_is_neither_lost_nor_gained(original, view):
    assert mend(original, view) == original


def test_known_slips_are_undone():
    assert mend("this movie is good", "east film is well") == "this film is good"


@pytest.mark.parametrize(
    ("original", "view", "mended"),
    [
        ("big dogs bark", "Large dogs bark", "large dogs bark"),
        ("BIG DOGS BARK", "Large dogs BARK", "LARGE DOGS BARK"),
        ("Big dogs of IBM", "large Dogs of IBM", "Large dogs of IBM"),
        ("He met Kyle MacKenzie", "He met Kyle Mackenzie", "He met Kyle MacKenzie"),
        ("Good. Big dogs bark.", "Good. large dogs bark.", "Good. Large dogs bark."),
        ("Acme Inc. said so", "Acme Inc. Said so", "Acme Inc. said so"),
        ("How so?", "How so ?", "How so?"),
        ("How so ?", "How so ?", "How so ?"),
    ],
)
def test_capitals_and_spaces_follow_the_original(original, view, mended):
    assert mend(original, view) == mended


def test_a_view_of_mostly_broken_words_is_given_up():
    """Three of seven words are more than two fifths, two of seven are not."""
    text = "one two three four five six seven"
    three = f"{BROKEN}one {BROKEN}two {BROKEN}three four five six seven"
    assert mend(text, three) is Fault.ARTEFACTS
    assert mend(text, three.replace(BROKEN, "", 1)) == text


def test_an_empty_view_is_no_view():
    assert mend("some text", " ") is Fault.EMPTY


def test_no_mark_is_ever_left():
    assert BROKEN not in mend("one two three four five six", f"{BROKEN}uno two x four {BROKEN}cinco six")
